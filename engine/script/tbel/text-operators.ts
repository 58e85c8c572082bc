/** `contains`, `~=`, `soundslike` and `strsim`. Source: `rule-engine.md` 6.4. */
import { mapHas } from './maps.ts'
import { matchesWhole } from './library/regex.ts'
import { strictlyEqual } from './comparison.ts'
import { double, isMap, keyOf, textOf, ValueSet, type Value } from './values.ts'
import type { Budget } from './budget.ts'

export function contains(container: Value, member: Value, budget: Budget): boolean {
  if (container === null) return false
  if (typeof container === 'string') {
    budget.spend(container.length >> 4)
    return member !== null && container.includes(textOf(member))
  }
  if (Array.isArray(container)) {
    budget.spend(container.length)
    return container.some((item) => strictlyEqual(item, member))
  }
  if (container instanceof ValueSet) return container.has(member)
  return isMap(container) && member !== null && mapHas(container, keyOf(member))
}

/** Whether the whole text matches the pattern. */
export function matches(text: Value, pattern: Value, budget: Budget): boolean {
  return text !== null && matchesWhole(textOf(pattern), textOf(text), budget)
}

/** Equal Soundex codes. */
export function soundsLike(left: Value, right: Value, budget: Budget): boolean {
  const leftText = textOf(left)
  const rightText = textOf(right)
  budget.spend((leftText.length + rightText.length) >> 2)
  return soundex(leftText) === soundex(rightText)
}

const SOUNDEX_GROUPS: readonly string[] = ['bfpv', 'cgjkqsxz', 'dt', 'l', 'mn', 'r']

function soundex(text: string): string {
  const letters = text.toLowerCase().replace(/[^a-z]/g, '')
  let code = letters.charAt(0)
  let previous = groupOf(code)
  for (const letter of letters.slice(1)) {
    const group = groupOf(letter)
    if (group !== 0 && group !== previous) code += group
    if (code.length === 4) break
    if (letter !== 'h' && letter !== 'w') previous = group
  }
  return code.padEnd(4, '0')
}

function groupOf(letter: string): number {
  return letter === '' ? 0 : SOUNDEX_GROUPS.findIndex((group) => group.includes(letter)) + 1
}

/** Share of places at which two texts hold the same character, of the longer one's length. */
export function similarity(left: Value, right: Value, budget: Budget): Value {
  const leftText = textOf(left)
  const rightText = textOf(right)
  const length = Math.max(leftText.length, rightText.length)
  budget.spend(length >> 2)
  if (length === 0) return double(1)
  let same = 0
  for (let index = 0; index < Math.min(leftText.length, rightText.length); index++) {
    if (leftText[index] === rightText[index]) same++
  }
  return double(Math.fround(same / length))
}
