/**
 * How a sandbox process is started, and what it may do: read its own modules and load one native module. It may read no other file,
 * write none, start no program and no thread (a thread can be started without these bounds). Node's permission model does not bound
 * the network or signals.
 */
import { fork, type ChildProcess } from 'node:child_process'
import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'
import type { SandboxLimits } from './protocol.ts'

const ENTRY = 'sandbox-process.ts'
/** All that the entry imports: `sandbox-launch.test.ts` shows that nothing is missing. */
const MODULES = [ENTRY, 'tenant-isolates.ts', 'guest-realm.ts', 'guest-harness.ts']

interface NodeGypBuild {
  /** The native file for this platform in a package's folder. */
  path(folder: string): string
}

/** The real path: the process could not follow a symbolic link outside of what it may read. */
function nativeModule(): string {
  const main = createRequire(import.meta.url).resolve('isolated-vm')
  const build = createRequire(main)('node-gyp-build') as NodeGypBuild
  return build.path(dirname(main))
}

/** `preload` is a module that runs in the process before its entry, with the same rights: for tests. */
export function startSandbox(limits: SandboxLimits, preload?: string): ChildProcess {
  const native = nativeModule()
  const readable = [...MODULES.map((name) => join(import.meta.dirname, name)), native]
  return fork(join(import.meta.dirname, ENTRY), [JSON.stringify(limits), native], {
    execArgv: [
      '--no-node-snapshot',
      '--disable-warning=ExperimentalWarning',
      '--permission',
      '--allow-addons',
      ...readable.map((path) => `--allow-fs-read=${path}`),
      ...(preload === undefined ? [] : ['--import', preload]),
    ],
    // Nothing of the environment but the time zone, which is part of what `Date` means.
    env: process.env['TZ'] === undefined ? {} : { TZ: process.env['TZ'] },
    serialization: 'advanced',
    stdio: ['ignore', 'ignore', 'ignore', 'ipc'],
  })
}
