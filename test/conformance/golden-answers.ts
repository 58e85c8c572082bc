/** What a server answered, held against the recorded answer: every place where they differ, by its exact path. */

export interface Difference {
  /** Such as `body.data.length` or `frames.0.errorCode`. */
  readonly path: string
  /** Undefined: the field is absent. */
  readonly recorded: unknown
  readonly answered: unknown
}

/** Where one case differs on purpose. */
export interface DeliberateDifference {
  readonly reason: string
  /** Path to what this server answers there; `ABSENT` for a field that it leaves out. Every other path must be as recorded. */
  readonly answers: Readonly<Record<string, unknown>>
  /** The reason is one of time: the recorded answer is right too. Then it is that as a whole. */
  readonly isSometimes?: true
}

export const ABSENT = '<absent>'

export function differencesOf(recorded: object, answered: object): readonly Difference[] {
  const differences: Difference[] = []
  const isUnordered = 'unordered' in recorded && recorded.unordered === true
  const [one, other] = isUnordered ? [sorted(recorded), sorted(answered)] : [recorded, answered]
  // The spelling of numbers (5.0 or 5) is no part of an answer's meaning.
  collect({ ...asRecord(one), rawBody: undefined }, { ...asRecord(other), rawBody: undefined }, '', differences)
  return differences
}

/** Sentences: differences that are not listed, and listed ones that are not there (any more). */
export function findingsOf(differences: readonly Difference[], listed: DeliberateDifference | undefined): string[] {
  const answers = listed?.answers ?? {}
  if (listed?.isSometimes === true && differences.length === 0) return []
  const findings = differences.flatMap(({ path, recorded, answered }) => {
    if (Object.hasOwn(answers, path)) {
      if (isSame(answers[path], answered ?? ABSENT)) return []
      return [`${path}: the list says that it answers ${textOf(answers[path])}, not ${textOf(answered)}`]
    }
    return [`${path}: recorded ${textOf(recorded)}, answered ${textOf(answered)}`]
  })
  const different = new Set(differences.map(({ path }) => path))
  const same = Object.keys(answers).filter((path) => !different.has(path))
  return [...findings, ...same.map((path) => `${path}: listed as different, but the same`)]
}

/** The answer once for each of its values, with another value there: none of them may pass. */
export function* plantedIn(answer: object): Generator<{ readonly path: string; readonly answer: object }> {
  for (const path of leavesOf({ ...answer, rawBody: undefined }, [])) {
    const planted = structuredClone(answer)
    let holder = planted as Record<string, unknown>
    for (const key of path.slice(0, -1)) holder = holder[key] as Record<string, unknown>
    holder[path.at(-1) ?? ''] = '<planted>'
    yield { path: path.join('.'), answer: planted }
  }
}

function* leavesOf(value: unknown, path: readonly string[]): Generator<readonly string[]> {
  if (value === undefined || (path.length === 1 && path[0] === 'unordered')) return
  if (typeof value !== 'object' || value === null) {
    yield path
    return
  }
  const inners: Readonly<Record<string, unknown>> = { ...value }
  for (const [key, inner] of Object.entries(inners)) yield* leavesOf(inner, [...path, key])
}

function collect(recorded: unknown, answered: unknown, path: string, into: Difference[]): void {
  if (Array.isArray(recorded) && Array.isArray(answered)) {
    if (recorded.length !== answered.length) {
      into.push({ path: below(path, 'length'), recorded: recorded.length, answered: answered.length })
    }
    for (let index = 0; index < Math.min(recorded.length, answered.length); index++) {
      collect(recorded[index], answered[index], below(path, String(index)), into)
    }
  } else if (isRecord(recorded) && isRecord(answered)) {
    for (const key of new Set([...Object.keys(recorded), ...Object.keys(answered)])) {
      collect(recorded[key], answered[key], below(path, key), into)
    }
  } else if (recorded !== answered) into.push({ path, recorded, answered })
}

function below(path: string, key: string): string {
  return path === '' ? key : `${path}.${key}`
}

function isRecord(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

function asRecord(value: unknown): Readonly<Record<string, unknown>> {
  return isRecord(value) ? value : {}
}

function sorted(value: unknown): unknown {
  if (Array.isArray(value)) {
    const items: readonly unknown[] = value
    return items.map(sorted).toSorted((one, other) => (textOf(one) < textOf(other) ? -1 : 1))
  }
  if (!isRecord(value)) return value
  const entries = Object.entries(value).map(([key, inner]) => [key, sorted(inner)] as const)
  return Object.fromEntries(entries.sort(([one], [other]) => (one < other ? -1 : 1)))
}

function isSame(one: unknown, other: unknown): boolean {
  return textOf(sorted(one)) === textOf(sorted(other))
}

function textOf(value: unknown): string {
  return value === undefined ? ABSENT : JSON.stringify(value)
}
