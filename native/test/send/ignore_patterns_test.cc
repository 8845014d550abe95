// SPDX-License-Identifier: MPL-2.0
#include "send/ignore_patterns.h"

#include <gtest/gtest.h>

namespace keibi::send {
namespace {

Verdict JudgeFile(std::string_view patterns, std::string_view path) {
  return IgnorePatterns(patterns).Judge(path, /*is_directory=*/false);
}
bool Matches(std::string_view pattern, std::string_view path) { return JudgeFile(pattern, path) == Verdict::kLeaveOut; }

TEST(IgnorePatternsTest, ComparesAPatternWithoutASlashWithTheLastName) {
  EXPECT_TRUE(Matches("*.tmp", "a.tmp"));
  EXPECT_TRUE(Matches("*.tmp", "deep/below/a.tmp"));
  EXPECT_TRUE(Matches("*.tmp", ".tmp"));
  EXPECT_FALSE(Matches("*.tmp", "a.tmp.gz"));
  EXPECT_FALSE(Matches("a", "a/b"));
}

TEST(IgnorePatternsTest, AnchorsAPatternWithASlash) {
  EXPECT_TRUE(Matches("/a", "a"));
  EXPECT_FALSE(Matches("/a", "b/a"));
  EXPECT_TRUE(Matches("b/a", "b/a"));
  EXPECT_FALSE(Matches("b/a", "c/b/a"));
  EXPECT_FALSE(Matches("b/*", "b/c/d"));
}

TEST(IgnorePatternsTest, LetsTwoStarsStandForAnyNames) {
  EXPECT_TRUE(Matches("**/a", "a"));
  EXPECT_TRUE(Matches("**/a", "x/y/a"));
  EXPECT_TRUE(Matches("a/**", "a/x"));
  EXPECT_TRUE(Matches("a/**", "a/x/y"));
  EXPECT_FALSE(Matches("a/**", "a"));
  EXPECT_TRUE(Matches("a/**/b", "a/b"));
  EXPECT_TRUE(Matches("a/**/b", "a/x/y/b"));
  EXPECT_FALSE(Matches("a/**/b", "a/x/y/c"));
  EXPECT_TRUE(Matches("**", "x/y"));
}

TEST(IgnorePatternsTest, MatchesCharactersBracketsAndEscapes) {
  EXPECT_TRUE(Matches("a?c", "abc"));
  EXPECT_FALSE(Matches("a?c", "a/c"));
  EXPECT_TRUE(Matches("[a-c]x", "bx"));
  EXPECT_FALSE(Matches("[!a-c]x", "bx"));
  EXPECT_TRUE(Matches("[^a-c]x", "dx"));
  EXPECT_TRUE(Matches("[]]", "]"));
  EXPECT_TRUE(Matches("[[:digit:]]*", "7z"));
  EXPECT_TRUE(Matches("\\*", "*"));
  EXPECT_FALSE(Matches("\\*", "a"));
  EXPECT_TRUE(Matches("\\#x", "#x"));
  EXPECT_TRUE(Matches("\\!x", "!x"));
  EXPECT_FALSE(Matches("[a", "a"));
  EXPECT_FALSE(Matches("[a", "[a"));
}

TEST(IgnorePatternsTest, IgnoresCommentsBlankLinesAndWhatSurroundsAPattern) {
  EXPECT_EQ(JudgeFile("# a\n\n   \n/\n!\n", "a"), Verdict::kNone);
  EXPECT_TRUE(
      Matches("\xef\xbb\xbf"
              "a",
              "a"));
  EXPECT_TRUE(Matches("a\r\nb\r\n", "a"));
  EXPECT_TRUE(Matches("a  ", "a"));
  EXPECT_TRUE(Matches("a\\ ", "a "));
}

TEST(IgnorePatternsTest, LetsTheLastMatchDecide) {
  EXPECT_EQ(JudgeFile("*.log\n!keep.log", "keep.log"), Verdict::kKeep);
  EXPECT_EQ(JudgeFile("!keep.log\n*.log", "keep.log"), Verdict::kLeaveOut);
  EXPECT_EQ(JudgeFile("*.log", "a.txt"), Verdict::kNone);
}

TEST(IgnorePatternsTest, KeepsFilesThatAPatternForFoldersNames) {
  const IgnorePatterns patterns("build/");
  EXPECT_EQ(patterns.Judge("build", /*is_directory=*/true), Verdict::kLeaveOut);
  EXPECT_EQ(patterns.Judge("a/build", /*is_directory=*/true), Verdict::kLeaveOut);
  EXPECT_EQ(patterns.Judge("build", /*is_directory=*/false), Verdict::kNone);
}

TEST(IgnorePatternsTest, TakesNoLongerThanThePatternTimesThePath) {
  const std::string name(200, 'a');
  std::string stars;
  for (int i = 0; i < 60; i++) stars += "*a";
  EXPECT_FALSE(Matches(stars + "b", name));
  std::string path = "a", folders = "**";
  for (int i = 0; i < 500; i++) path += "/a";
  for (int i = 0; i < 100; i++) folders += "/**/a";
  EXPECT_FALSE(Matches(folders + "/b", path));
}

}  // namespace
}  // namespace keibi::send
