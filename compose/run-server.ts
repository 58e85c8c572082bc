/** The server as a process: reads the settings, starts the platform, says when it is ready, stops on SIGTERM and SIGINT. */
import { readFile } from 'node:fs/promises'
import { join, resolve } from 'node:path'
import { errorText, isMillraceError } from '../model/errors.ts'
import { readConfig, type Environment } from '../config/read.ts'
import type { Config } from '../config/settings.ts'
import { TRANSPORTS } from '../transports/catalogue.ts'
import { createLog, type SystemLog } from '../logging/log.ts'
import { endFatally, endOnUncaughtErrors, stopOnSignals } from './process-end.ts'
import { startPlatform, type Platform } from './platform.ts'
import { reachableHost, readyJson, readyText, type Ports } from './ready-text.ts'
import { collectStartGarbage } from './start-garbage.ts'

/** Resolves once the server is ready; the process then goes on until a signal stops it. Exits 1 where it cannot start. */
export async function runServer(environment: Environment): Promise<void> {
  const config = settingsOrExit(environment)
  const log = createLog(config.logLevel)
  const version = await ownVersion()
  endOnUncaughtErrors(log)
  const started = stopOnSignals(process, log, config.stopTimeoutMs)
  let platform: Platform
  try {
    platform = await startPlatform(config, version, log, (error) => endFatally(log, error))
    await collectStartGarbage()
  } catch (error) {
    return refuse(error, log)
  }
  if (started(platform)) return
  process.stdout.write(announcement(config, version, platform))
}

function settingsOrExit(environment: Environment): Config {
  try {
    return readConfig(environment)
  } catch (error) {
    process.stderr.write(`${errorText(error)}\n`)
    process.exit(1)
  }
}

async function ownVersion(): Promise<string> {
  const description = JSON.parse(await readFile(join(import.meta.dirname, '..', 'package.json'), 'utf8')) as {
    version: string
  }
  return description.version
}

function announcement(config: Config, version: string, platform: Platform): string {
  const facts = {
    version,
    startMs: performance.now(),
    ports: platform.ports,
    httpHost: reachableHost(config.httpBindAddress),
    isHttps: config.sslEnabled,
    protocols: protocolsOf(config, platform.ports),
    dataDir: resolve(config.dataDir),
    durability: config.durability,
    demo: platform.demo,
    oneTimePassword: platform.oneTimePassword,
  }
  if (!config.readyJson) return readyText(facts)
  // The password is shown this one time: not on the line that programs read.
  if (facts.oneTimePassword !== undefined) process.stderr.write(`sysadmin@millrace.local / ${facts.oneTimePassword}\n`)
  return readyJson(facts)
}

function protocolsOf(config: Config, ports: Ports) {
  return TRANSPORTS.flatMap(({ listeners }) => listeners(config)).flatMap((at) => {
    const port = at === 'http' ? undefined : ports[at.name]
    if (at === 'http' || port === undefined) return []
    return [{ label: at.label, url: `${at.scheme}://${reachableHost(at.address)}:${port}` }]
  })
}

function refuse(error: unknown, log: SystemLog): void {
  log.flush()
  // An error of ours says what to do; anything else is a defect, and its stack says where.
  process.stderr.write(
    isMillraceError(error)
      ? `${error.message}\n`
      : `${error instanceof Error ? (error.stack ?? error.message) : String(error)}\n`,
  )
  process.exit(1)
}
