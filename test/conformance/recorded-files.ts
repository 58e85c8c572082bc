/** The files of a folder of recordings, none of which a replay may pass over. */
import assert from 'node:assert/strict'
import { readdirSync } from 'node:fs'

/** Throws where a file has another form: the replay would not play it. */
export function recordedFiles(folder: string, form: RegExp): readonly string[] {
  const files = readdirSync(folder)
  const passedOver = files.filter((file) => !form.test(file))
  assert.deepEqual(passedOver, [], `no replay plays these files of ${folder}`)
  return files
}

/** A replay plays one case of each name. */
export function assertNoneTwice(names: readonly string[], folder: string): void {
  const twice = names.filter((name, index) => names.indexOf(name) !== index)
  assert.deepEqual(twice, [], `names of more than one case of ${folder}`)
}
