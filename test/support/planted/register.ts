/** Loaded before Millrace (`--import`): plants the bug of `PLANTED_BUG` in the source of production code while it is read. */
import { readFileSync } from 'node:fs'
import { registerHooks } from 'node:module'
import { fileURLToPath } from 'node:url'
import { bugOf } from './bugs.ts'

const bug = bugOf(process.env['PLANTED_BUG'] ?? '')

registerHooks({
  load(url, context, next) {
    if (!url.endsWith(`/${bug.file}`)) return next(url, context)
    // As it is written: what others load may be without its types.
    const source = readFileSync(fileURLToPath(url), 'utf8')
    if (source.split(bug.code).length !== 2) {
      throw new Error(`${bug.file} has changed: the bug "${bug.name}" can not be planted in it`)
    }
    return {
      format: 'module-typescript',
      source: source.replace(bug.code, () => bug.planted),
      shortCircuit: true,
    }
  },
})
