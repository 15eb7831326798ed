// Tests that need no database; they run under every sanitizer.
#pragma once

namespace lissom_test {

void TestLevelBits();
void TestGuards();
void TestConcurrency();

}  // namespace lissom_test
