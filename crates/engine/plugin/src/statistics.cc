// Reading the counters of a database that somebody else may have opened.
#include "rocksdb/statistics.h"

#include <memory>

#include "error.h"
#include "handles.h"

struct lissom_statistics {
  std::shared_ptr<rocksdb::Statistics> statistics;
};

extern "C" {

lissom_error lissom_statistics_new(lissom_target target,
                                   lissom_statistics** out) {
  return lissom::Guarded([&]() -> lissom_error {
    auto statistics = lissom::Resolve(target).db->GetDBOptions().statistics;
    *out = statistics == nullptr
               ? nullptr
               : new lissom_statistics{std::move(statistics)};
    return nullptr;
  });
}

void lissom_statistics_free(lissom_statistics* statistics) {
  delete statistics;
}

int lissom_statistics_level(const lissom_statistics* statistics) {
  return statistics->statistics->get_stats_level();
}

lissom_error lissom_statistics_ticker(const lissom_statistics* statistics,
                                      uint32_t ticker, uint64_t* out) {
  return lissom::Guarded([&]() -> lissom_error {
    if (ticker >= rocksdb::TICKER_ENUM_MAX) {
      return lissom::Error("there is no ticker " + std::to_string(ticker));
    }
    *out = statistics->statistics->getTickerCount(ticker);
    return nullptr;
  });
}

lissom_error lissom_statistics_histogram(const lissom_statistics* statistics,
                                         uint32_t histogram,
                                         lissom_histogram* out) {
  return lissom::Guarded([&]() -> lissom_error {
    if (histogram >= rocksdb::HISTOGRAM_ENUM_MAX) {
      return lissom::Error("there is no histogram " +
                           std::to_string(histogram));
    }
    rocksdb::HistogramData data;
    statistics->statistics->histogramData(histogram, &data);
    *out = {data.median,  data.percentile95, data.percentile99, data.average,
            data.max,     data.count,        data.sum};
    return nullptr;
  });
}

}  // extern "C"
