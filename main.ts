/**
 * The program's entry: `npm start`, `npm start -- config`, `npm start -- --help`, `npm start -- install-chain FILE`.
 * Everything else is imported after the compile cache is on, so that the second start compiles nothing.
 */
import { enableCompileCache, flushCompileCache } from 'node:module'
import { join } from 'node:path'
import { restartWithLeanMalloc } from './compose/malloc.ts'
import { mayRunFrom, withEntries } from './compose/own-cache.mjs'

if (process.argv.length === 2) restartWithLeanMalloc(process.env)
const cache = join(import.meta.dirname, '.cache')
const compiled = join(cache, 'compile')
const cached = withEntries(compiled)
if (mayRunFrom([cache, ...cached])) enableCompileCache(compiled)

const USAGE = `Millrace: IoT stream processing

  npm start                              run; settings come from the environment
  npm start -- config                    every setting, its present value and where it came from
  npm start -- install-chain FILE        install an exported rule chain
  npm start -- chain check|test|diff     check, test and compare rule chain files
  npm start -- chain shadow|replay FILE  try a rule chain file on messages as they come, or on the log
  npm start -- chain versions NAME       saved versions of a rule chain: show, compare, restore
  npm start -- import FILE               devices or assets from comma-separated values
  npm start -- tenant export FILE        write all that a tenant has to a file
  npm start -- tenant import FILE        bring it in, here or elsewhere; shows a plan first
  npm start -- watch DEVICE              telemetry of a device as it arrives
  npm start -- integration watch NAME    what an integration does, and its progress in a file
  npm start -- workers                   show and change worker pools
  npm start -- backup DIR                back up a running server
  npm start -- restore DIR               restore a backup into an empty data folder
  npm start -- erase                     take deleted data out of the files
  npm start -- parked                    devices whose messages keep failing: show, retry, give up
  npm start -- COMMAND --help            more about a command
  npm start -- --help                    this text and every setting
`

const [command, ...rest] = process.argv.slice(2)

switch (command) {
  case undefined: {
    const { runServer } = await import('./compose/run-server.ts')
    // Node holds what it read of the cache until it writes: some 6 MiB, which what is opened next takes over. Where nothing was there yet it writes
    // at the end, or all of it would come before the program is ready.
    if (cached.length > 1) flushCompileCache()
    await runServer(process.env)
    break
  }
  case 'config': {
    const { configText } = await import('./config/print.ts')
    process.stdout.write(configText(process.env))
    break
  }
  case '--help':
  case '-h':
  case 'help': {
    const { configText } = await import('./config/print.ts')
    process.stdout.write(`${USAGE}\nSettings (environment variables)\n\n${configText(process.env)}`)
    break
  }
  case 'install-chain': {
    const { installChain } = await import('./commands/install-chain.ts')
    process.exitCode = await installChain(rest)
    break
  }
  case 'import': {
    const { importFile } = await import('./commands/import.ts')
    process.exitCode = await importFile(rest)
    break
  }
  case 'chain': {
    const { chainCommand } = await import('./compose/chain-command.ts')
    process.exitCode = await chainCommand(rest)
    break
  }
  case 'tenant': {
    const { tenant } = await import('./commands/tenant.ts')
    process.exitCode = await tenant(rest)
    break
  }
  case 'watch': {
    const { watch } = await import('./commands/watch.ts')
    process.exitCode = await watch(rest)
    break
  }
  case 'integration': {
    const { integration } = await import('./commands/integration.ts')
    process.exitCode = await integration(rest)
    break
  }
  case 'parked': {
    const { parked } = await import('./commands/parked.ts')
    process.exitCode = await parked(rest)
    break
  }
  case 'erase': {
    const { erase } = await import('./commands/erase.ts')
    process.exitCode = await erase(rest)
    break
  }
  case 'workers': {
    const { workers } = await import('./commands/workers.ts')
    process.exitCode = await workers(rest)
    break
  }
  case 'backup': {
    const { backup } = await import('./commands/backup.ts')
    process.exitCode = await backup(rest)
    break
  }
  case 'restore': {
    const { restore } = await import('./compose/backup/restore.ts')
    process.exitCode = await restore(rest, process.env)
    break
  }
  default:
    process.stderr.write(`unknown command '${command}'\n\n${USAGE}`)
    process.exitCode = 2
}
