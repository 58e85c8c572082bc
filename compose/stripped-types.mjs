/**
 * Preloaded by `npm start` (`--import`), in the main thread and in every thread it starts: TypeScript without its types comes from a cache
 * on disk. Node's own stripping keeps a compiler of some 15 MB in each thread that loads a single .ts file, and its compile cache does
 * not spare that. Written as JavaScript, since it runs before any .ts file can.
 */
import { createHash } from 'node:crypto'
import { mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs'
import { registerHooks, stripTypeScriptTypes } from 'node:module'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { threadId } from 'node:worker_threads'
import { mayRunFrom } from './own-cache.mjs'

const cache = join(import.meta.dirname, '..', '.cache')
const folder = join(cache, 'stripped', process.version)
const isOurs = mayRunFrom([cache, join(cache, 'stripped'), folder])

registerHooks({
  load(url, context, nextLoad) {
    if (!url.startsWith('file:') || !url.endsWith('.ts')) return nextLoad(url, context)
    const source = readFileSync(fileURLToPath(url), 'utf8')
    const file = join(folder, `${createHash('sha256').update(source).digest('hex')}.js`)
    return { format: 'module', source: read(file) ?? strip(source, file), shortCircuit: true }
  },
})

function read(file) {
  if (!isOurs || !mayRunFrom([file])) return undefined
  try {
    return readFileSync(file, 'utf8')
  } catch {
    // Not stripped yet, or not readable for this user: then it is stripped again.
    return undefined
  }
}

function strip(source, file) {
  const stripped = stripTypeScriptTypes(source)
  // Its owner could have a link there, to any file that root may write.
  if (!isOurs) return stripped
  try {
    mkdirSync(folder, { recursive: true, mode: 0o755 })
    // Threads and processes may write the same file at once: each finds none or a whole one.
    const own = `${file}.${process.pid}.${threadId}`
    writeFileSync(own, stripped)
    renameSync(own, file)
  } catch {
    // A folder that this user may not write to: the next start strips again.
  }
  return stripped
}
