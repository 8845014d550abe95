// SPDX-License-Identifier: MPL-2.0

// Writes the codecs of the mount host's messages from proto/mount-host.mjs, for TypeScript and for C++. A file that would
// not change is left alone, so that nothing is compiled again.
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { fileURLToPath } from 'node:url';
import { fromDaemon, fromHost, rules } from '../proto/mount-host.mjs';

const HEAD = `// SPDX-License-Identifier: MPL-2.0
// Written by scripts/generate-mount-host.mjs from proto/mount-host.mjs.
`;
const TS_TYPES = {
  u8: 'number',
  u16: 'number',
  u32: 'number',
  u64: 'bigint',
  size: 'number',
  time: 'bigint',
  flag: 'boolean',
  id: 'Uint8Array',
  key: 'string',
  text: 'string',
  rest: 'string',
  bytes: 'Uint8Array',
};
const CC_TYPES = {
  u8: 'uint8_t',
  u16: 'uint16_t',
  u32: 'uint32_t',
  u64: 'uint64_t',
  size: 'uint64_t',
  time: 'int64_t',
  flag: 'bool',
  id: 'uint64_t',
  key: 'std::string_view',
  text: 'std::string_view',
  rest: 'std::string_view',
  bytes: 'std::string_view',
};

const pascal = (name) => name[0].toUpperCase() + name.slice(1);
const snake = (name) => name.replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
const constant = (name) =>
  `k${name
    .split('_')
    .map((word) => word[0] + word.slice(1).toLowerCase())
    .join('')}`;
/** The fields of each element of a repeated field. */
const elementOf = (kind) => kind.list ?? kind.toEnd;
/** Fields of the form [name, kind]. */
const entriesOf = Object.entries;
const all = (record, text, between = '\n') => entriesOf(record).map(text).join(between);

// TypeScript

function tsType(kind) {
  if (Array.isArray(kind))
    return kind
      .filter((name) => name !== null)
      .map((name) => `'${name}'`)
      .join(' | ');
  if (typeof kind === 'object') return `{ ${tsFields(elementOf(kind))} }[]`;
  return TS_TYPES[kind];
}

function tsFields(fields) {
  return all(fields, ([name, kind]) => `${name}: ${tsType(kind)}`, '; ');
}

function tsNames(kind) {
  return `[${kind.map((name) => (name === null ? 'null' : `'${name}'`)).join(', ')}]`;
}

function tsRead(kind) {
  if (Array.isArray(kind)) return `from.name(${tsNames(kind)})`;
  if (typeof kind === 'string') return `from.${kind}()`;
  const call = kind.list ? 'list' : 'toEnd';
  return `from.${call}(() => ({ ${all(elementOf(kind), ([name, one]) => `${name}: ${tsRead(one)}`, ', ')} }))`;
}

function tsWrite(kind, value) {
  if (Array.isArray(kind)) return `to.name(${tsNames(kind)}, ${value})`;
  if (typeof kind === 'string') return `to.${kind}(${value})`;
  const call = kind.list ? 'list' : 'toEnd';
  const each = all(elementOf(kind), ([name, one]) => `${tsWrite(one, `one.${name}`)};`, ' ');
  return `to.${call}(${value}, (one) => { ${each} })`;
}

const isRequest = ({ answer }) => answer !== undefined;
const isAnswer = (name) => name === 'done' || name === 'page';

function tsSide(side, messages) {
  const numbered = ([name, message]) => isRequest(message) || isAnswer(name);
  const union = all(messages, ([name, message]) => {
    const request = numbered([name, message]) ? 'request: number' : '';
    const fields = [`type: '${name}'`, request, tsFields(message.fields)].filter(Boolean).join('; ');
    return `${message.about ? `  /** ${message.about} */\n` : ''}  | { ${fields} }`;
  });
  const decode = all(messages, ([name, message]) => {
    const request = numbered([name, message]) ? ['request'] : [];
    const fields = entriesOf(message.fields).map(([field, kind]) => `${field}: ${tsRead(kind)}`);
    return `    case ${message.type}:\n      return { ${[`type: '${name}'`, ...request, ...fields].join(', ')} };`;
  });
  const encode = all(messages, ([name, message]) => {
    const fields = all(message.fields, ([field, kind]) => `      ${tsWrite(kind, `message.${field}`)};\n`, '');
    const request = numbered([name, message]) ? 'message.request' : '0';
    return `    case '${name}':\n${fields}      return to.message(${message.type}, ${request});`;
  });
  return `
export type From${side} =
${union};

/** @throws RangeError for a message that the ${side.toLowerCase()} never sends */
export function decodeFrom${side}(type: number, request: number, body: Buffer): From${side} {
  const from = new BodyReader(body);
  switch (type) {
${decode}
  }
  throw new RangeError(\`There is no message \${type}.\`);
}

export function encodeFrom${side}(message: From${side}): Buffer {
  const to = new BodyWriter();
  switch (message.type) {
${encode}
  }
}
`;
}

function tsAnswers() {
  const answered = entriesOf(fromHost).filter(([, { answer }]) => answer && Object.keys(answer).length > 0);
  return answered
    .map(([name, { answer }]) => {
      const type = `${pascal(name)}Answer`;
      return `
export interface ${type} { ${tsFields(answer)} }

/** The body of the \`done\` that answers \`${name}\`. */
export function encode${type}(answer: ${type}): Buffer {
  const to = new BodyWriter();
${all(answer, ([field, kind]) => `  ${tsWrite(kind, `answer.${field}`)};`)}
  return to.body();
}

/** @throws RangeError */
export function decode${type}(body: Uint8Array): ${type} {
  const from = new BodyReader(Buffer.from(body.buffer, body.byteOffset, body.length));
  return { ${all(answer, ([field, kind]) => `${field}: ${tsRead(kind)}`, ', ')} };
}
`;
    })
    .join('');
}

// C++

function ccType(name, kind) {
  if (Array.isArray(kind)) return pascal(name);
  if (typeof kind === 'object') return `std::vector<${singular(name)}>`;
  return CC_TYPES[kind];
}

const singular = (name) => pascal(name).replace(/s$/, '');

/** Types that a struct declares for its own fields. */
function ccInner(fields) {
  return entriesOf(fields)
    .map(([name, kind]) => {
      if (Array.isArray(kind)) {
        const values = kind.flatMap((value, i) => (value === null ? [] : [`k${pascal(value)} = ${i}`])).join(', ');
        return `  enum class ${pascal(name)} : uint8_t { ${values} };\n`;
      }
      if (typeof kind === 'string') return '';
      const inner = ccInner(elementOf(kind)).replaceAll(/^/gm, '  ').trimEnd();
      return `  struct ${singular(name)} {\n${inner ? `${inner}\n` : ''}${ccMembers(elementOf(kind), '    ')}  };\n`;
    })
    .join('');
}

function ccMembers(fields, indent) {
  return all(fields, ([name, kind]) => `${indent}${ccType(name, kind)} ${snake(name)}{};\n`, '');
}

function ccWrite(kind, value) {
  if (Array.isArray(kind) || kind === 'flag') return `body.Number(static_cast<uint8_t>(${value}));`;
  if (typeof kind === 'object') {
    const count = kind.list ? `body.Number(static_cast<uint32_t>(${value}.size()));\n    ` : '';
    const each = all(elementOf(kind), ([name, one]) => `      ${ccWrite(one, `one.${snake(name)}`)}\n`, '');
    return `${count}for (const auto& one : ${value}) {\n${each}    }`;
  }
  if (kind === 'text') return `body.Text(${value});`;
  if (['key', 'rest', 'bytes'].includes(kind)) return `body.Rest(${value});`;
  return kind === 'time' ? `body.Number(static_cast<uint64_t>(${value}));` : `body.Number(${value});`;
}

function ccRead(owner, name, kind) {
  const type = `${owner}${pascal(name)}`;
  if (Array.isArray(kind)) return `static_cast<${type}>(body.Number<uint8_t>())`;
  if (kind === 'flag') return 'body.Number<uint8_t>() != 0';
  if (kind === 'time') return 'static_cast<int64_t>(body.Number<uint64_t>())';
  if (kind === 'text') return 'body.Text()';
  if (kind === 'rest' || kind === 'bytes') return 'body.Rest()';
  return `body.Number<${CC_TYPES[kind]}>()`;
}

function ccParse(name, fields) {
  const lines = entriesOf(fields).flatMap(([field, kind]) => {
    if (typeof kind === 'string' || Array.isArray(kind))
      return [`    parsed.${snake(field)} = ${ccRead('', field, kind)};`];
    const type = singular(field);
    const inner = all(
      elementOf(kind),
      ([one, its]) => `      one.${snake(one)} = ${ccRead(`${type}::`, one, its)};\n`,
      '',
    );
    return [
      `    while (body.ok() && body.left() > 0) {\n      ${type} one;\n${inner}      if (body.ok()) parsed.${snake(field)}.push_back(one);\n    }`,
    ];
  });
  return `  static ${name} Parse(Reader body) {\n    ${name} parsed;\n${lines.join('\n')}\n    return parsed;\n  }\n`;
}

function ccStruct(name, { about, fields }, { parsed }) {
  const comment = about ? `// ${about}\n` : '';
  const write = all(fields, ([field, kind]) => `    ${ccWrite(kind, snake(field))}\n`, '');
  const own = parsed
    ? ccParse(name, fields)
    : `  Writer Body() const {\n    Writer body;\n${write}    return body;\n  }\n`;
  return `${comment}struct ${name} {\n${ccInner(fields)}${ccMembers(fields, '  ')}\n${own}};\n`;
}

function cc() {
  const number = (type) => (type > 127 ? `0x${type.toString(16)}` : type);
  const types = all({ ...fromHost, ...fromDaemon }, ([name, { type }]) => `  k${pascal(name)} = ${number(type)},`);
  const hasFields = ([, { fields }]) => Object.keys(fields).length > 0;
  const sent = entriesOf(fromHost).filter(hasFields);
  const answers = entriesOf(fromHost).filter(([, { answer }]) => Object.keys(answer ?? {}).length > 0);
  const heard = entriesOf(fromDaemon).filter(([name, message]) => hasFields([name, message]) && !isAnswer(name));
  return `${HEAD}#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "mount/host_protocol.h"

namespace keibi::mount {

enum class Type : uint8_t {
${types}
};

// The bodies of the messages. Texts belong to the caller, or to the message that was parsed.
namespace message {

// Sent by the host.

${sent.map(([name, message]) => ccStruct(pascal(name), message, { parsed: false })).join('\n')}
// The bodies of answers.

${answers.map(([name, { answer }]) => ccStruct(`${pascal(name)}Answer`, { fields: answer }, { parsed: true })).join('\n')}
// Sent by the daemon.

${heard.map(([name, message]) => ccStruct(pascal(name), message, { parsed: true })).join('\n')}
}  // namespace message

namespace rules {

${all(rules, ([name, value]) => `inline constexpr ${value > 2 ** 31 ? 'uint64_t' : 'int'} ${constant(name)} = ${value};`)}

}  // namespace rules

}  // namespace keibi::mount
`;
}

function write(path, text) {
  const file = fileURLToPath(new URL(`../${path}`, import.meta.url));
  try {
    if (readFileSync(file, 'utf8') === text) return;
  } catch {
    mkdirSync(dirname(file), { recursive: true });
  }
  writeFileSync(file, text);
}

write(
  'proto/gen/mount-host-rules.ts',
  `${HEAD}\nexport const rules = {\n${all(rules, ([name, value]) => `  ${name}: ${value},`)}\n} as const;\n`,
);
write(
  'proto/gen/mount-host.ts',
  `${HEAD}import { BodyReader, BodyWriter } from '../mount-host-bytes.ts';\n${tsSide('Host', fromHost)}${tsSide('Daemon', fromDaemon)}${tsAnswers()}`,
);
write('native/gen/mount/host_messages.h', cc());
