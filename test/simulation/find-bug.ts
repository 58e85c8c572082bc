/** `find-bug.ts WORLD SEEDS`: prints the first seed whose history of that world fails, and why; exits 1 where none does. */
import { join } from 'node:path'
import type { Live } from './histories.ts'

const [world = '', seeds = '100'] = process.argv.slice(2)
const { live } = (await import(join(import.meta.dirname, world))) as { readonly live: Live }

let found: string | undefined
for (let seed = 1; seed <= Number(seeds) && found === undefined; seed++) {
  await live(seed).catch((error: unknown) => {
    found = `seed ${seed}: ${String(error).split('\n')[0]}`
  })
}
process.stdout.write(found ?? `${seeds} histories found nothing wrong\n`)
process.exitCode = found === undefined ? 1 : 0
