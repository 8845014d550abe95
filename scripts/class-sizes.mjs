// SPDX-License-Identifier: MPL-2.0

// How many methods each C++ class has, from the text of a file. Used by tree-rules.mjs.

const COMMENTS_AND_TEXTS = /\/\/.*$|^#.*$|"(?:\\.|[^"\\\n])*"|'(?:\\.|[^'\\])'|(?<=\d)'(?=\d)/gm;
const TEMPLATE_ARGUMENTS = /<[^<>()]*(\([^()]*\)[^<>()]*)*>/g;
const NO_METHOD = /^\s*(using|typedef|friend|static_assert|enum)\b|\boperator\b|=[^=]*\(/;

/** Whether a statement in a class declares or defines a method: no constructor, destructor, operator or data. */
function declaresMethod(statement, inClass) {
  let plain = statement;
  for (let before = ''; before !== plain; ) {
    before = plain;
    plain = plain.replace(TEMPLATE_ARGUMENTS, '');
  }
  const name = /(~?\w+)\s*\(/.exec(plain)?.[1];
  return name !== undefined && name !== inClass && name !== `~${inClass}` && !NO_METHOD.test(plain);
}

/** The number of methods of each class that `text` defines, by its name. */
export function methodCounts(text) {
  const plain = text.replace(COMMENTS_AND_TEXTS, '');
  const counts = new Map();
  const open = []; // for each open brace the name of its class, or undefined
  let from = 0;
  let parentheses = 0;
  for (const { 0: sign, index } of plain.matchAll(/[(){};]/g)) {
    if (sign === '(') parentheses++;
    if (sign === ')') parentheses--;
    if (parentheses > 0 || sign === '(' || sign === ')') continue;
    const statement = plain.slice(from, index).replace(/^\s*(public|private|protected):/, '');
    const opened = sign === '{' ? /\b(?:class|struct)\s+(\w+)\b[^()=]*$/.exec(statement)?.[1] : undefined;
    const inClass = open.at(-1);
    if (sign !== '}' && inClass !== undefined && opened === undefined && declaresMethod(statement, inClass)) {
      counts.set(inClass, (counts.get(inClass) ?? 0) + 1);
    }
    if (sign === '{') open.push(opened);
    if (sign === '}') open.pop();
    from = index + 1;
  }
  return counts;
}
