/** A server and the commands that ask it, killed (SIGKILL) in turns until a command is through. */
import assert from 'node:assert/strict'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import type { TestContext } from 'node:test'
import { DEMO_TENANT, RestClient, login } from '../support/clients.ts'
import { startCommand, type EndedCommand, type RunningCommand } from '../support/command-process.ts'
import { startFaultProxy, type FaultProxy } from '../support/fault-proxy.ts'
import type { SeededRandom } from '../support/seeded-random.ts'
import { freePorts } from '../support/servers/ports.ts'
import { startMillrace, type RunningMillrace } from '../support/start-millrace.ts'

type Environment = Readonly<Record<string, string>>

/** A server that is started again on what it left. */
export class World {
  millrace: RunningMillrace
  readonly folder: string
  /** Before the server, whichever was started last. */
  readonly proxy: FaultProxy
  private readonly environment: Environment

  private constructor(folder: string, environment: Environment, proxy: FaultProxy, millrace: RunningMillrace) {
    this.folder = folder
    this.environment = environment
    this.proxy = proxy
    this.millrace = millrace
  }

  /** `dataDir`: of a server that ran before, or a backup that was restored. */
  static async open(context: TestContext, environment: Environment, dataDir?: string): Promise<World> {
    const folder = await mkdtemp(join(tmpdir(), 'millrace-killed-command-'))
    const [port = 0] = await freePorts(1)
    const proxy = await startFaultProxy({ target: `http://127.0.0.1:${port}` })
    const own = { ...environment, HTTP_BIND_PORT: String(port), DATA_DIR: dataDir ?? join(folder, 'data') }
    const world = new World(folder, own, proxy, await start(own))
    context.after(async () => {
      await world.millrace.kill()
      await proxy.close()
      await rm(folder, { recursive: true, force: true })
    })
    return world
  }

  async killServer(): Promise<void> {
    await this.millrace.kill()
  }

  async restart(): Promise<void> {
    this.millrace = await start(this.environment)
  }

  command(...args: readonly string[]): RunningCommand {
    return startCommand([...args, '--url', this.proxy.url])
  }

  async run(...args: readonly string[]): Promise<EndedCommand> {
    return this.command(...args).ended
  }

  async rest(account = DEMO_TENANT): Promise<RestClient> {
    return new RestClient(this.millrace, await login(this.millrace, account))
  }
}

function start({ DATA_DIR: dataDir = '', ...environment }: Environment): Promise<RunningMillrace> {
  return startMillrace({ dataDir, environment })
}

/** Waits until it is so. False where the command ended before. */
export async function reached(command: RunningCommand, isSo: () => boolean | Promise<boolean>): Promise<boolean> {
  let hasEnded = false
  void command.ended.then(() => (hasEnded = true))
  while (!hasEnded) {
    if (await isSo()) return true
    await delay(2)
  }
  return false
}

export interface Killing {
  readonly world: World
  readonly args: readonly string[]
  readonly random: SeededRandom
  readonly rounds: number
  /** Waits for the moment. False where the command ended before. */
  readonly moment: (round: number, command: RunningCommand) => Promise<boolean>
  /** What must be so behind each kill, with the server running. */
  readonly check?: () => Promise<void>
}

/** Runs the command until it is through, killed so many times on the way. */
export async function runKilled(killing: Killing): Promise<EndedCommand> {
  const { world, args, random, rounds, moment, check } = killing
  for (let round = 1; round <= rounds; round++) {
    const command = world.command(...args)
    const isUnderWay = await moment(round, command)
    assert.ok(isUnderWay, `void: it ended before kill ${round}:\n${command.output()}`)
    await delay(random.between(0, 50))
    if (round % 2 === 1) {
      await world.killServer()
      const { code, output } = await command.ended
      assert.equal(code, 1, output)
      assert.match(output, /no Millrace answers/)
      await world.restart()
    } else {
      command.kill()
      assert.equal((await command.ended).code, null, 'void: it had ended')
    }
    await check?.()
  }
  return world.run(...args)
}
