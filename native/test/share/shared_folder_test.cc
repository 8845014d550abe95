// SPDX-License-Identifier: MPL-2.0
#include "share/shared_folder.h"

#include <gtest/gtest.h>
#include <sys/socket.h>
#include <sys/un.h>

#include <algorithm>
#include <atomic>
#include <set>
#include <thread>

#include "disk/beneath.h"
#include "disk_tree.h"
#include "manifest/entry.h"

namespace keibi::share {
namespace {

using core::Code;
using test::fs::path;

class SharedFolderTest : public testing::Test {
 protected:
  SharedFolderTest() {
    test::fs::create_directories(share_ / "d/deep");
    test::WriteFile(share_ / "d/file", "inside");
    test::WriteFile(outside_ / "secret", "outside");
  }

  Code Look(std::string_view path) const {
    std::vector<uint8_t> entry;
    return folder().Look(path, &entry).code;
  }
  Code List(std::string_view path) const {
    std::shared_ptr<Listing> listing;
    return folder().Open(path, &listing).code;
  }
  SharedFolder folder() const { return SharedFolder(share_.path().string(), "share"); }

  // Every name of a directory, and the number of its pages.
  std::set<std::string> Names(std::string_view path, size_t* pages = nullptr, uint32_t* left_out = nullptr) const {
    std::shared_ptr<Listing> listing;
    EXPECT_TRUE(folder().Open(path, &listing).ok());
    std::set<std::string> names;
    for (bool last = false; !last;) {
      ListingPage page;
      EXPECT_TRUE(listing->Next(&page).ok());
      uint32_t count = 0;
      for (size_t at = 0; at < page.entries.size(); count++) {
        manifest::Entry entry;
        EXPECT_TRUE(manifest::ParseEntry(page.entries.data(), page.entries.size(), &at, &entry).ok());
        EXPECT_EQ(entry.parent, manifest::kTop);
        EXPECT_TRUE(names.emplace(entry.name).second);
      }
      EXPECT_EQ(count, page.count);
      EXPECT_LE(page.entries.size(), core::kMaxPageBytes);
      if (pages != nullptr) ++*pages;
      if (left_out != nullptr) *left_out += page.left_out;
      last = page.last;
    }
    return names;
  }

  test::Folder share_, outside_;
};

TEST_F(SharedFolderTest, ListsADirectoryPageByPageEachNameOnce) {
  std::set<std::string> names;
  for (int i = 0; i < 10'000; i++) {
    names.insert("entry-" + std::to_string(i));
    test::WriteFile(share_ / ("d/deep/entry-" + std::to_string(i)), "");
  }
  size_t pages = 0;
  EXPECT_EQ(Names("d/deep", &pages), names);
  EXPECT_GT(pages, 3U);
  EXPECT_EQ(Names(""), std::set<std::string>{"d"});
}

TEST_F(SharedFolderTest, LeavesOutWhatNoPeerWouldTakeAndWhatIsStillBeingReceived) {
  test::fs::create_directories(share_ / ".keibidrop-partial");
  test::WriteFile(share_ / "bad-\xff", "");
  ASSERT_EQ(mkfifo((share_ / "pipe").c_str(), 0600), 0);
  test::fs::create_symlink(outside_.path(), share_ / "link");
  uint32_t left_out = 0;
  EXPECT_EQ(Names("", nullptr, &left_out), (std::set<std::string>{"d", "link"}));
  EXPECT_EQ(left_out, 2U);
}

TEST_F(SharedFolderTest, ShowsASymlinkAndDoesNotFollowIt) {
  test::fs::create_symlink(outside_.path(), share_ / "link");
  test::fs::create_symlink(outside_ / "secret", share_ / "d/secret");
  std::vector<uint8_t> bytes;
  ASSERT_TRUE(folder().Look("link", &bytes).ok());
  size_t at = 0;
  manifest::Entry entry;
  ASSERT_TRUE(manifest::ParseEntry(bytes.data(), bytes.size(), &at, &entry).ok());
  EXPECT_EQ(entry.type, manifest::EntryType::kSymlink);
  EXPECT_EQ(entry.target, outside_.path().string());
  for (const char* path : {"link/secret", "link/", "link/../secret"}) EXPECT_NE(Look(path), Code::kOk) << path;
  EXPECT_NE(List("link"), Code::kOk);
  core::Fd fd, folder_fd;
  ASSERT_TRUE(disk::OpenFolder(share_.path().string(), &folder_fd).ok());
  EXPECT_EQ(disk::OpenBeneath(folder_fd.get(), "d/secret", O_RDONLY, &fd).code, Code::kPathRefused);
  EXPECT_TRUE(disk::OpenBeneath(folder_fd.get(), "d/file", O_RDONLY, &fd).ok());
}

TEST_F(SharedFolderTest, RefusesWhatIsNoPathAndSaysWhatIsNotThere) {
  for (const char* path : {"..", "../secret", "/etc", "d/..", "d/../..", "d//deep", "d/", "."}) {
    EXPECT_EQ(Look(path), Code::kPathRefused) << path;
    EXPECT_EQ(List(path), Code::kPathRefused) << path;
  }
  EXPECT_EQ(Look(std::string_view("d\0x", 3)), Code::kPathRefused);
  EXPECT_EQ(Look("nothing"), Code::kSourceMissing);
  EXPECT_EQ(Look("d/file/x"), Code::kSourceMissing);
  EXPECT_EQ(List("d/file"), Code::kSourceMissing);
  EXPECT_EQ(SharedFolder((share_ / "gone").string(), "gone").Look("", nullptr).code, Code::kSourceMissing);
}

// A directory in the path is replaced by a symlink to the outside again and again, as a user with write access to the
// share could do.
TEST_F(SharedFolderTest, NeverReachesOutsideWhileADirectoryIsSwappedForASymlink) {
  test::fs::create_directory(share_ / "real");
  test::WriteFile(share_ / "real/secret", "inside");
  test::fs::create_symlink(outside_.path(), share_ / "fake");
  std::atomic<bool> over = false;
  std::thread swapper([&] {
    while (!over.load()) {
      renameat2(AT_FDCWD, (share_ / "real").c_str(), AT_FDCWD, (share_ / "fake").c_str(), RENAME_EXCHANGE);
    }
  });
  core::Fd folder_fd;
  ASSERT_TRUE(disk::OpenFolder(share_.path().string(), &folder_fd).ok());
  int reached = 0, refused = 0;
  for (int i = 0; i < 200'000 && (reached < 100 || refused < 100); i++) {
    core::Fd fd;
    if (!disk::OpenBeneath(folder_fd.get(), "real/secret", O_RDONLY, &fd).ok()) {
      refused++;
      continue;
    }
    reached++;
    char bytes[16] = {};
    EXPECT_GT(read(fd.get(), bytes, sizeof bytes), 0);
    EXPECT_STREQ(bytes, "inside");
  }
  over.store(true);
  swapper.join();
  EXPECT_GE(reached, 100);
  EXPECT_GE(refused, 100);
}

}  // namespace
}  // namespace keibi::share
