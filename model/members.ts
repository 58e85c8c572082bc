/** Objects with members of any name, `__proto__` too. `Object.fromEntries` and `defineProperty` take ten times as long (benchmarks/rule-chain). */

export function setMember<Value>(members: Record<string, Value>, name: string, value: Value): void {
  if (name === '__proto__')
    Object.defineProperty(members, name, { value, enumerable: true, configurable: true, writable: true })
  else members[name] = value
}

/** Of several with one name the last counts, in the place of the first. */
export function membersOf<Value>(entries: Iterable<readonly [string, Value]>): Record<string, Value> {
  const members: Record<string, Value> = {}
  for (const [name, value] of entries) setMember(members, name, value)
  return members
}

/** Members in their order, later ones of the same name in the place of the earlier. */
export function mergedMembers<Value>(
  before: Readonly<Record<string, Value>>,
  added: Iterable<readonly [string, Value]>,
): Record<string, Value> {
  const members = { ...before }
  for (const [name, value] of added) setMember(members, name, value)
  return members
}
