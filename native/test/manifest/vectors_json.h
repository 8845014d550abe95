// SPDX-License-Identifier: MPL-2.0
#pragma once

#include <cstdlib>
#include <fstream>
#include <iterator>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace keibi::test {

// The part of JSON that our own vectors use. Numbers stay text, so that 64 bits survive.
struct Json {
  std::string text;
  std::vector<Json> items;
  std::map<std::string, Json> fields;

  const Json& operator[](const std::string& name) const { return fields.at(name); }
  bool has(const std::string& name) const { return fields.contains(name); }
  uint64_t number() const { return std::strtoull(text.c_str(), nullptr, 10); }

  static Json Load(const std::string& path) {
    std::ifstream file(path);
    const std::string all((std::istreambuf_iterator<char>(file)), std::istreambuf_iterator<char>());
    const char* at = all.c_str();
    return Value(&at);
  }

 private:
  static char Next(const char** at) {
    while (**at == ' ' || **at == '\n' || **at == ',' || **at == ':') (*at)++;
    return **at;
  }

  static Json Value(const char** at) {
    Json value;
    switch (Next(at)) {
      case '{':
        for ((*at)++; Next(at) != '}';) {
          const std::string name = Text(at);
          value.fields[name] = Value(at);
        }
        (*at)++;
        break;
      case '[':
        for ((*at)++; Next(at) != ']';) value.items.push_back(Value(at));
        (*at)++;
        break;
      case '"':
        value.text = Text(at);
        break;
      default:
        while (std::string_view(",]}\n ").find(**at) == std::string_view::npos && **at) value.text += *(*at)++;
    }
    return value;
  }

  static std::string Text(const char** at) {
    std::string text;
    for ((*at)++; **at && **at != '"'; (*at)++) {
      if (**at != '\\') {
        text += **at;
        continue;
      }
      const char escaped = *++*at;
      text += escaped == 'n' ? '\n' : escaped == 't' ? '\t' : escaped;
    }
    (*at)++;
    return text;
  }
};

}  // namespace keibi::test
