#include "registry.h"

#include <memory>
#include <mutex>
#include <string>

#include "filter_policy.h"
#include "partitioner.h"
#include "rocksdb/utilities/object_registry.h"

namespace lissom {
namespace {

const rocksdb::FilterPolicy* MakeLevelBloom(
    const std::string& id, std::unique_ptr<const rocksdb::FilterPolicy>* guard,
    std::string* message) {
  const size_t prefix = std::string(LevelBloom::kClassName).size() + 1;
  const auto bits = LevelBits::FromText(id.substr(prefix));
  if (!bits) {
    *message = "cannot read the bits per key in \"" + id +
               "\"; the form is lissom.LevelBloom:10x18/9.5/0x20";
    return nullptr;
  }
  guard->reset(new LevelBloom(std::make_shared<LevelBits>(*bits)));
  return guard->get();
}

rocksdb::SstPartitionerFactory* MakeGuardPartitioner(
    const std::string&, std::unique_ptr<rocksdb::SstPartitionerFactory>* guard,
    std::string*) {
  guard->reset(new GuardPartitionerFactory(std::make_shared<GuardTable>(0)));
  return guard->get();
}

void AddFactories() {
  auto library = rocksdb::ObjectRegistry::Default()->AddLibrary("lissom");
  library->AddFactory<const rocksdb::FilterPolicy>(
      rocksdb::ObjectLibrary::PatternEntry(LevelBloom::kClassName, false)
          .AddSeparator(LevelBloom::kSeparator),
      MakeLevelBloom);
  library->AddFactory<rocksdb::SstPartitionerFactory>(
      GuardPartitionerFactory::kClassName, MakeGuardPartitioner);
}

}  // namespace

void RegisterObjects() {
  static std::once_flag once;
  std::call_once(once, AddFactories);
}

}  // namespace lissom
