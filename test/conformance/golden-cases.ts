/** Recorded cases that their own runner plays, each a file with what is expected of its steps. */
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { ABSENT, type DeliberateDifference } from './golden-answers.ts'

export interface Case {
  readonly name: string
  readonly expected: object
}

/** Written by the recording's runner: their shape is known. */
export function readCases(folder: string): readonly Case[] {
  return readdirSync(folder).map((file) => JSON.parse(readFileSync(join(folder, file), 'utf8')) as Case)
}

/** As recorded, but at the listed paths as the list says: so every other path is still compared, and the listed ones too. */
export function withDifferences(recorded: Case, listed: DeliberateDifference | undefined, findings: string[]): Case {
  if (listed === undefined) return recorded
  const changed = structuredClone(recorded)
  for (const [path, answered] of Object.entries(listed.answers)) {
    if (!replaceAt(changed.expected, path.split('.'), answered))
      findings.push(`${recorded.name}: ${path}: listed as different, but recorded so`)
  }
  return changed
}

/** False where the value is there already. */
export function replaceAt(holder: object, path: readonly string[], value: unknown): boolean {
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
