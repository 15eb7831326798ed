#include "check.h"
#include "pure_test.h"

int main() {
  lissom_test::TestLevelBits();
  lissom_test::TestGuards();
  lissom_test::TestConcurrency();
  const int failures = lissom_test::failures;
  std::fprintf(stderr, "pure_test: %s\n", failures == 0 ? "passed" : "FAILED");
  return failures == 0 ? 0 : 1;
}
