// SPDX-License-Identifier: MPL-2.0
#include <gtest/gtest.h>

#include <filesystem>

#include "bytes.h"
#include "manifest/entry_table.h"
#include "manifest/vectors_json.h"

// PROTOCOL 6, with the test vectors of packages/protocol.
namespace keibi::manifest {
namespace {

using core::Code;
using test::Bytes;
using test::Json;

Json VectorsOf(const std::string& name) {
  const auto here = std::filesystem::path(__FILE__).parent_path();
  return Json::Load((here / "../../../packages/protocol/test/vectors" / name).string());
}

Bytes BytesOfHex(std::string hex) {
  std::erase(hex, ' ');
  return test::FromHex(hex);
}

EntryType TypeOf(const std::string& name) {
  if (name == "file") return EntryType::kFile;
  if (name == "directory") return EntryType::kDirectory;
  return name == "symlink" ? EntryType::kSymlink : EntryType::kStream;
}

Entry EntryOf(const Json& json) {
  Entry entry;
  entry.type = TypeOf(json["type"].text);
  entry.mode = static_cast<uint16_t>(json["mode"].number());
  entry.parent = static_cast<uint32_t>(json["parent"].number());
  entry.mtime_ns = std::strtoll(json["mtimeNs"].text.c_str(), nullptr, 10);
  entry.size = json["size"].number();
  entry.name = json["name"].text;
  entry.sparse = json.has("sparse");
  if (json.has("target")) entry.target = json["target"].text;
  return entry;
}

void ExpectSame(const Entry& got, const Entry& wanted) {
  EXPECT_EQ(got.type, wanted.type);
  EXPECT_EQ(got.mode, wanted.mode);
  EXPECT_EQ(got.parent, wanted.parent);
  EXPECT_EQ(got.mtime_ns, wanted.mtime_ns);
  EXPECT_EQ(got.size, wanted.size);
  EXPECT_EQ(got.sparse, wanted.sparse);
  EXPECT_EQ(got.name, wanted.name);
  EXPECT_EQ(got.target, wanted.target);
}

Entry Named(std::string_view name, uint32_t parent = kTop, EntryType type = EntryType::kFile) {
  Entry entry;
  entry.name = name;
  entry.parent = parent;
  entry.type = type;
  if (type == EntryType::kSymlink) entry.target = "x";
  return entry;
}

Bytes PageOf(const std::vector<Entry>& entries) {
  Bytes page;
  for (const Entry& entry : entries) AppendEntry(&page, entry);
  return page;
}

Code Add(EntryTable* table, uint32_t first, const std::vector<Entry>& entries) {
  const Bytes page = PageOf(entries);
  return table->AddPage(page.data(), page.size(), first, static_cast<uint32_t>(entries.size())).code;
}

TEST(ManifestVectors, AreWrittenAndReadAsByTheTypeScriptCodec) {
  const Json vectors = VectorsOf("manifest.json");
  size_t read = 0;
  for (const Json& page : vectors["pages"].items) {
    SCOPED_TRACE(page["name"].text);
    const Bytes wire = BytesOfHex(page["hex"].text);
    Bytes written;
    size_t offset = 0;
    for (const Json& json : page["entries"].items) {
      const Entry wanted = EntryOf(json);
      AppendEntry(&written, wanted);
      Entry got;
      ASSERT_TRUE(ParseEntry(wire.data(), wire.size(), &offset, &got).ok());
      ExpectSame(got, wanted);
      read++;
    }
    EXPECT_EQ(written, wire);
    EXPECT_EQ(offset, wire.size());
  }
  EXPECT_GE(read, 10u);
}

TEST(ManifestVectors, AreRefusedWhereTheTypeScriptCodecRefuses) {
  const Json vectors = VectorsOf("manifest-refused.json");
  EXPECT_GE(vectors["pages"].items.size(), 30u);
  for (const Json& page : vectors["pages"].items) {
    SCOPED_TRACE(page["name"].text);
    const Bytes wire = BytesOfHex(page["hex"].text);
    EntryTable table;
    EXPECT_FALSE(table.AddPage(wire.data(), wire.size(), 0, 1).ok());
    EXPECT_EQ(table.size(), 0u);
  }
}

TEST(EntryTable, RefusesAPageOutOfTurnOrOfAnotherCount) {
  EntryTable table;
  const Bytes two = PageOf({Named("a"), Named("b")});
  EXPECT_EQ(table.AddPage(two.data(), two.size(), 1, 2).code, Code::kHandshakeMalformed);
  EXPECT_EQ(table.AddPage(two.data(), two.size(), 0, 0).code, Code::kHandshakeMalformed);
  EXPECT_EQ(table.AddPage(two.data(), two.size(), 0, 1).code, Code::kHandshakeMalformed);
  EXPECT_EQ(table.AddPage(two.data(), two.size(), 0, 3).code, Code::kHandshakeMalformed);
  EXPECT_EQ(table.AddPage(two.data(), two.size(), 0, core::kMaxEntries).code, Code::kHandshakeMalformed);
  EXPECT_EQ(table.AddPage(two.data(), two.size(), 0, UINT32_MAX).code, Code::kLimitExceeded);
  EXPECT_EQ(table.AddPage(two.data(), two.size(), 0, 2).code, Code::kOk);
  EXPECT_EQ(table.AddPage(two.data(), two.size(), 0, 2).code, Code::kHandshakeMalformed);
  EXPECT_EQ(table.size(), 2u);
}

TEST(EntryTable, RefusesAPageOverItsLimit) {
  EntryTable table;
  Bytes page;
  uint32_t count = 0;
  for (; page.size() <= core::kMaxPageBytes; count++) AppendEntry(&page, Named("n" + std::to_string(count)));
  EXPECT_EQ(table.AddPage(page.data(), page.size(), 0, count).code, Code::kLimitExceeded);
}

TEST(EntryTable, RefusesAParentThatIsNoEarlierDirectory) {
  EntryTable table;
  ASSERT_EQ(
      Add(&table, 0, {Named("d", kTop, EntryType::kDirectory), Named("f"), Named("l", kTop, EntryType::kSymlink)}),
      Code::kOk);
  EXPECT_EQ(Add(&table, 3, {Named("in a file", 1)}), Code::kPathRefused);
  EXPECT_EQ(Add(&table, 3, {Named("in a symlink", 2)}), Code::kPathRefused);
  EXPECT_EQ(Add(&table, 3, {Named("in itself", 3, EntryType::kDirectory)}), Code::kPathRefused);
  EXPECT_EQ(Add(&table, 3, {Named("in a later one", 4), Named("e", kTop, EntryType::kDirectory)}), Code::kPathRefused);
  EXPECT_EQ(Add(&table, 3, {Named("in nothing", 77)}), Code::kPathRefused);
  EXPECT_EQ(Add(&table, 3, {Named("e", 0, EntryType::kDirectory), Named("in the one before", 3)}), Code::kOk);
  EXPECT_EQ(table.PathOf(4), "d/e/in the one before");
}

TEST(EntryTable, KeepsTheNameOfTheStagingFolderForItself) {
  EntryTable table;
  EXPECT_EQ(Add(&table, 0, {Named(".keibidrop-partial")}), Code::kPathRefused);
  EXPECT_EQ(Add(&table, 0, {Named(".keibidrop-partial-7", kTop, EntryType::kDirectory)}), Code::kPathRefused);
  EXPECT_EQ(Add(&table, 0, {Named("d", kTop, EntryType::kDirectory), Named(".keibidrop-partial", 0)}), Code::kOk);
}

TEST(EntryTable, HandsOutWhatWasAppendedPageByPage) {
  EntryTable table;
  EXPECT_EQ(table.ClosePage().count, 0u);
  EXPECT_EQ(table.Append(Named("a", kTop, EntryType::kDirectory)), 0u);
  EXPECT_EQ(table.Append(Named("b", 0)), 1u);
  const EntryTable::Page first = table.ClosePage();
  EXPECT_EQ(table.Append(Named("c", 0)), 2u);
  const EntryTable::Page second = table.ClosePage();
  EXPECT_EQ(table.ClosePage().count, 0u);
  EXPECT_EQ(first.count, 2u);
  EXPECT_EQ(second.first, 2u);

  EntryTable received;
  EXPECT_TRUE(received.AddPage(first.bytes, first.size, first.first, first.count).ok());
  EXPECT_TRUE(received.AddPage(second.bytes, second.size, second.first, second.count).ok());
  EXPECT_EQ(received.PathOf(2), "a/c");
  Entry entry;
  EXPECT_FALSE(received.Find(3, &entry));
  EXPECT_FALSE(received.Find(kTop, &entry));
}

}  // namespace
}  // namespace keibi::manifest
