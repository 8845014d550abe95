// SPDX-License-Identifier: MPL-2.0

/**
 * Listed words that people tend to combine: first picks such as `hello world`, `love you` and `test code`, and words of one subject.
 * Each word is in one group.
 */
const GROUPS: readonly string[] = [
  [
    'abandon ability able about access account again all alpha always any apple baby banana best bless boss boy',
    'buddy cat chicken code coffee come cool crazy cute dad day door drop easy exact example exit file find fine',
    'fire first friend fun funny game general gift girl give good great guess happy hard have hello help hidden',
    'home honey hope idea just keep key kiss know law legend letter life like link little live lock love lucky',
    'lunch magic mail main make man master message mom moment monster more mother name nature nice night normal',
    'number office only open orange other party pass peace people phone picture pizza play please power pretty',
    'private program protect proud public quick random ready real receive right royal rule sad safe sample save',
    'school secret security service share shy simple sister skill small smart smile soccer someone song space',
    'special start super sure sweet system talk target team tell test text thank that they thing this ticket time',
    'tiny today together token tomorrow top toy transfer trick true trust try twenty type unlock update upon',
    'use valid vault very victory view virus visit voice wait want water way wealth welcome what when where whip',
    'wife will win wine winner wish word work world wrong yellow you young zebra zero zone zoo',
  ].join(' '),
  'double eight half hundred million once one seven six ten three twelve twice two',
  'black blue brown color gold green ivory olive pink silver',
  'above below bottom east inside left middle north outside side south under upper west',
  [
    'bird dog dolphin dragon duck eagle elephant fish fox frog goat goose horse lion monkey mouse pig rabbit snake',
    'spider tiger turtle whale wolf',
  ].join(' '),
  'aunt brother child cousin daughter family father husband parent uncle woman',
  [
    'autumn cloud desert earth fall forest island lake moon mountain ocean rain river sea season snow spring summer',
    'sun thunder winter',
  ].join(' '),
  'clock hour minute month morning october second weekend year',
  [
    'bacon bread butter cake cheese cherry cream dinner drink egg food fruit ice lemon milk pepper rice salad salt',
    'soup sugar',
  ].join(' '),
  'camera film image movie photo video',
  'album dance music piano radio',
  'bicycle bus car drive road traffic train truck wheel',
  'arm body brain eye face finger foot hair hand head heart knee leg nose skin toe tooth',
  'airport flight holiday hotel salon tourist travel trip',
  'army battle bomb bullet enemy gun soldier weapon',
  'doctor hospital nurse patient',
  'crime police prison',
  'book chapter page paper pen story write',
  'learn lesson student teach',
  'anchor boat captain sail ship',
  'match mix shuffle',
  'card cash coin credit price sell shop',
  'laptop network screen',
];

const groupOf = new Map(GROUPS.flatMap((group, number) => group.split(' ').map((word) => [word, number] as const)));

/** Drops words that a guesser would combine with an earlier one: keeps the first of each group. */
export function withoutObvious(words: readonly string[]): string[] {
  const taken = new Set<number>();
  return words.filter((word) => {
    const group = groupOf.get(word);
    if (group === undefined) return true;
    const isFirst = !taken.has(group);
    taken.add(group);
    return isFirst;
  });
}
