/** The generated files as they are committed: formatted like the rest. */
import { join, resolve } from 'node:path'
import { format, resolveConfig } from 'prettier'
import type { JsonObject } from '../../model/json.ts'
import { generateClient } from './generate.ts'

const FOLDER = resolve(import.meta.dirname, '..', 'typescript')

/** Texts by the path of their file. */
export async function clientFiles(description: JsonObject): Promise<ReadonlyMap<string, string>> {
  const { types, operations } = generateClient(description)
  const files = new Map<string, string>()
  for (const [name, text] of Object.entries({ 'types.ts': types, 'operations.ts': operations })) {
    const filepath = join(FOLDER, name)
    files.set(filepath, await format(text, { ...(await resolveConfig(filepath)), filepath }))
  }
  return files
}
