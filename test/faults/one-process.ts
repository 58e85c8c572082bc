/** What the tests of disks share: one process under a steady load, what its operator sees, and what a reader finds after a kill. */
import assert from 'node:assert/strict'
import { setTimeout as delay } from 'node:timers/promises'
import type { TestContext } from 'node:test'
import { seededRandom, type SeededRandom } from '../support/seeded-random.ts'
import type { RunningMillrace } from '../support/start-millrace.ts'
import { embeddedWorldOf } from './campaign/embedded-world.ts'
import { Fleet } from './campaign/fleet.ts'
import { bodyOf, type Journal } from './campaign/journal.ts'
import { Member } from './campaign/member.ts'
import { readBack } from './campaign/reading.ts'
import { startSteadyLoad, type SteadyLoad } from './campaign/steady-load.ts'
import { judge, type Verdict } from './campaign/verdict.ts'

export const LIMIT_MS = 180_000
const POLL_MS = 25

export interface LoadedProcess {
  readonly member: Member
  readonly journals: readonly Journal[]
  readonly random: SeededRandom
  readonly load: SteadyLoad
  readonly fleet: Fleet
  /** Ends the load and kills the process; after its next start everything acknowledged is there once, in order, and nothing else. */
  readonly judgeAfterKill: (context: TestContext, what: string) => Promise<void>
}

export async function startProcess(
  context: TestContext,
  environment: Readonly<Record<string, string>>,
): Promise<Member> {
  const member = await Member.start({ name: 'process', environment })
  context.after(() => member.close())
  return member
}

/** Resolves when every device has something acknowledged. */
export async function startLoaded(
  context: TestContext,
  environment: Readonly<Record<string, string>>,
  devices: number,
): Promise<LoadedProcess> {
  const random = seededRandom()
  const member = await startProcess(context, environment)
  const fleet = await Fleet.open(embeddedWorldOf(member))
  const journals = await fleet.devices(devices)
  const load = startSteadyLoad(journals, [member.address], random)
  context.after(() => load.end())
  await waitFor('the load to get under way', () => journals.every((journal) => journal.count('acknowledged') > 0))
  return {
    member,
    journals,
    random,
    load,
    fleet,
    judgeAfterKill: async (own, what) => {
      await load.end()
      await member.kill()
      await member.restart()
      const verdict = judge(await readBack(fleet, journals, LIMIT_MS))
      report(own, random, what, verdict)
      assert.deepEqual(verdict.findings, [], `repeat with SEED=${random.seed}`)
    },
  }
}

export function report(context: TestContext, { seed }: SeededRandom, what: string, verdict: Verdict): void {
  const { sent, acknowledged, refused, unknown, found, lost, duplicated } = verdict
  context.diagnostic(
    `seed ${seed}: ${what}; sent ${sent}, acknowledged ${acknowledged}, refused ${refused}, unknown ${unknown}, found ${found}, ` +
      `lost ${lost}, duplicated ${duplicated}`,
  )
}

/** One after the other, so that each is alone in its frame; all must be acknowledged. */
export async function sendValues({ process }: Member, journal: Journal, count: number): Promise<void> {
  for (let left = count; left > 0; left--) {
    const value = journal.take()
    const url = `${process.url}/api/v1/${journal.device.token}/telemetry`
    const response = await fetch(url, { method: 'POST', body: bodyOf(journal.device, value.value) })
    assert.equal(response.status, 200, await response.text())
    journal.acknowledge(value)
  }
}

/** Fails with `what` where it does not come true. */
export async function waitFor(what: string, condition: () => boolean | Promise<boolean>): Promise<void> {
  const deadline = performance.now() + LIMIT_MS
  while (!(await condition())) {
    assert.ok(performance.now() < deadline, `waited ${LIMIT_MS} ms for ${what}`)
    await delay(POLL_MS)
  }
}

/** The log comes through a pipe: a little after what it tells of. */
export function waitForLog({ process }: Member, line: RegExp): Promise<void> {
  return waitFor(`${line} in the log`, () => line.test(process.log()))
}

export function acknowledgedSince(journals: readonly Journal[], time: number): boolean {
  return journals.every((journal) => journal.firstAcknowledgementSince(time) !== undefined)
}

/** `UP`, or the parts that are down. */
export async function health({ url }: RunningMillrace): Promise<string> {
  const response = await fetch(`${url}/health`)
  const { components } = (await response.json()) as { components: Readonly<Record<string, { status: string }>> }
  const down = Object.entries(components).flatMap(([name, { status }]) => (status === 'UP' ? [] : [name]))
  assert.equal(response.status, down.length === 0 ? 200 : 503)
  return down.length === 0 ? 'UP' : `DOWN: ${down.join(', ')}`
}
