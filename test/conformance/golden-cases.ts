/**
 * Recorded cases that their own runner plays, each a file with what is expected of its steps. Each is compared as recorded, but at the paths
 * that are listed as different, where it is compared with what the list says.
 */
import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { ABSENT, type DeliberateDifference } from './golden-answers.ts'
import { runInProject } from './golden-runner.ts'
import { assertNoneTwice, recordedFiles } from './recorded-files.ts'

export interface Case {
  readonly name: string
  readonly expected: object
}

export interface CaseReplay {
  readonly cases: readonly Case[]
  readonly differences: Readonly<Record<string, DeliberateDifference>>
  /** Case to what it needs. */
  readonly notBuilt: ReadonlyMap<string, string>
  /** A copy of a case that passes gets a wrong expectation: it must fail. */
  readonly plant: { readonly in: string; readonly path: readonly string[]; readonly value: string }
  /** The runner's program, and where the server is. */
  readonly runner: readonly string[]
  /** For the cases that it plays. */
  readonly folder: string
  /** How fast it plays: its options. */
  readonly paces: {
    readonly quick: readonly string[]
    /** For what failed beside many others. */
    readonly calm: readonly string[]
    /** For what is not built: each waits in vain. */
    readonly short: readonly string[]
  }
}

const PLANTED = 'planted'

/** Written by the recording's runner: their shape is known. */
export function readCases(folder: string): readonly Case[] {
  const cases = recordedFiles(folder, /\.json$/).map(
    (file) => JSON.parse(readFileSync(join(folder, file), 'utf8')) as Case,
  )
  const names = cases.map(({ name }) => name)
  assertNoneTwice(names, folder)
  return cases
}

/** What is not as recorded or listed. */
export async function caseFindings(options: CaseReplay): Promise<readonly string[]> {
  const { cases, differences, notBuilt, plant, runner, folder, paces } = options
  const findings: string[] = []
  const given = cases.map((recorded) => withDifferences(recorded, differences[recorded.name], findings))
  const play = async (name: string, some: readonly Case[], pace: readonly string[]) =>
    replay([...runner, ...pace], join(folder, name), some)
  const built = given.filter(({ name }) => !notBuilt.has(name))
  const first = await play('built', [...built, plantedIn(cases, plant)], paces.quick)
  const wanting = given.filter(({ name }) => notBuilt.has(name))
  const absent = await play('wanting', wanting, paces.short)
  const again = built.filter(({ name }) => first.has(name))
  for (const [name, difference] of await play('again', again, paces.calm)) findings.push(`${name}: ${difference}`)
  if (!first.has(PLANTED)) findings.push(`a wrong value planted in ${plant.in} stays unseen`)
  for (const name of notBuilt.keys()) if (!absent.has(name)) findings.push(`${name}: listed as not built, and passes`)
  const names = new Set(cases.map(({ name }) => name))
  const listed = [...notBuilt.keys(), ...Object.keys(differences)]
  return [...findings, ...listed.filter((name) => !names.has(name)).map((name) => `${name}: no case`)]
}

/** Case to the first place where it fails. Throws where the runner passed one over. */
async function replay(
  runner: readonly string[],
  folder: string,
  cases: readonly Case[],
): Promise<ReadonlyMap<string, string>> {
  if (cases.length === 0) return new Map()
  await mkdir(folder)
  for (const each of cases) await writeFile(join(folder, `${each.name}.json`), JSON.stringify(each))
  const output = await runInProject([...runner, '--cases', folder])
  const [, passed, failed] = /^(\d+) passed, (\d+) failed$/m.exec(output) ?? []
  const played = Number(passed) + Number(failed)
  assert.equal(played, cases.length, `the runner did not play every case:\n${output.slice(-4000)}`)
  const failures = new Map(
    [...output.matchAll(/^FAIL ([^:]+): (.*)$/gm)].map(([, name = '', text = '']) => [name, text]),
  )
  assert.equal(failures.size, Number(failed), `the runner did not name every failure:\n${output.slice(-4000)}`)
  return failures
}

function plantedIn(cases: readonly Case[], plant: CaseReplay['plant']): Case {
  const original = cases.find(({ name }) => name === plant.in)
  assert.ok(original, `no case ${plant.in}`)
  const planted = { ...structuredClone(original), name: PLANTED }
  assert.ok(replaceAt(planted.expected, plant.path, plant.value))
  return planted
}

/** As recorded, but at the listed paths as the list says: so every other path is still compared, and the listed ones too. */
function withDifferences(recorded: Case, listed: DeliberateDifference | undefined, findings: string[]): Case {
  if (listed === undefined) return recorded
  const changed = structuredClone(recorded)
  for (const [path, answered] of Object.entries(listed.answers)) {
    if (!replaceAt(changed.expected, path.split('.'), answered))
      findings.push(`${recorded.name}: ${path}: listed as different, but recorded so`)
  }
  return changed
}

/** False where the value is there already. */
function replaceAt(holder: object, path: readonly string[], value: unknown): boolean {
  const keys = [...path]
  const last = keys.pop() ?? ''
  let inner = holder as Record<string, unknown>
  for (const key of keys) inner = inner[key] as Record<string, unknown>
  const before = Object.hasOwn(inner, last) ? inner[last] : ABSENT
  if (JSON.stringify(before) === JSON.stringify(value)) return false
  if (value === ABSENT) Reflect.deleteProperty(inner, last)
  else inner[last] = value
  return true
}
