/** Loaded before Millrace (`--import`): plants the bug of `PLANTED_BUG` in the source of production code while it is read. */
import { registerHooks } from 'node:module'
import { bugOf } from './bugs.ts'

const bug = bugOf(process.env['PLANTED_BUG'] ?? '')

registerHooks({
  load(url, context, next) {
    const loaded = next(url, context)
    if (!url.endsWith(`/${bug.file}`)) return loaded
    if (!(loaded.source instanceof Uint8Array) && typeof loaded.source !== 'string')
      throw new Error(`${url} has no source`)
    const source = typeof loaded.source === 'string' ? loaded.source : Buffer.from(loaded.source).toString()
    if (source.split(bug.code).length !== 2) {
      throw new Error(`${bug.file} has changed: the bug "${bug.name}" can not be planted in it`)
    }
    return { ...loaded, source: source.replace(bug.code, () => bug.planted) }
  },
})
