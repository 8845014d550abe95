// SPDX-License-Identifier: MPL-2.0
#include "platform/rename.h"

#include <fcntl.h>
#include <gtest/gtest.h>

#include <cerrno>

#include "core/fd.h"
#include "disk_tree.h"

namespace keibi::platform {
namespace {

using test::fs::exists;

// Both variants: the file system decides which one a system uses.
class RenameTest : public testing::TestWithParam<decltype(&RenameNew)> {
 protected:
  bool Rename(const std::string& from, const std::string& to) { return GetParam()(fd_.get(), from, fd_.get(), to); }

  test::Folder folder_;
  const core::Fd fd_{open(folder_.path().c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC)};
};

TEST_P(RenameTest, GivesAFileItsNewName) {
  test::WriteFile(folder_ / "one", "1");
  EXPECT_TRUE(Rename("one", "two"));
  EXPECT_FALSE(exists(folder_ / "one"));
  EXPECT_EQ(test::ReadFile(folder_ / "two"), "1");
}

TEST_P(RenameTest, ReplacesNothing) {
  test::WriteFile(folder_ / "one", "1");
  test::WriteFile(folder_ / "two", "2");
  test::fs::create_directory(folder_ / "folder");
  test::fs::create_symlink("nowhere", folder_ / "link");
  for (const std::string taken : {"two", "folder", "link"}) {
    EXPECT_FALSE(Rename("one", taken));
    EXPECT_EQ(errno, EEXIST) << taken;
  }
  EXPECT_EQ(test::ReadFile(folder_ / "one"), "1");
  EXPECT_EQ(test::ReadFile(folder_ / "two"), "2");
}

// Directories have no hard links, so it checks the name, then renames.
TEST_P(RenameTest, MovesADirectoryAndReplacesNoneWithIt) {
  test::fs::create_directory(folder_ / "one");
  test::WriteFile(folder_ / "one/in", "1");
  test::fs::create_directory(folder_ / "empty");
  EXPECT_FALSE(Rename("one", "empty"));
  EXPECT_EQ(errno, EEXIST);
  EXPECT_TRUE(Rename("one", "two"));
  EXPECT_EQ(test::ReadFile(folder_ / "two/in"), "1");
  EXPECT_FALSE(exists(folder_ / "one"));
}

TEST_P(RenameTest, SaysThatThereIsNothingToRename) {
  EXPECT_FALSE(Rename("one", "two"));
  EXPECT_EQ(errno, ENOENT);
}

INSTANTIATE_TEST_SUITE_P(BothWays, RenameTest, testing::Values(&RenameNew, &RenameNewByLink));

}  // namespace
}  // namespace keibi::platform
