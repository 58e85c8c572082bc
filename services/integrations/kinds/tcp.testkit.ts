/** What the tests of TCP ports share: an open source on a free port, closed with the test. */
import type { TestContext } from 'node:test'
import type { SecureContext } from 'node:tls'
import { ManualClock } from '../../../model/manual-clock.ts'
import { systemClock } from '../../../model/system-clock.ts'
import { freePorts } from '../../../test/support/servers/ports.ts'
import { until } from '../../../test/support/until.ts'
import { sourceParts } from '../source.testkit.ts'
import { tcpConfiguration } from './tcp-configuration.ts'
import { openTcpSource } from './tcp-source.ts'

export interface OpenTcpOptions {
  /** Of the configuration. */
  readonly members?: object
  readonly limits?: object
  readonly clock?: ManualClock
  readonly secureContext?: () => SecureContext
}

export async function openTcp(context: TestContext, options: OpenTcpOptions = {}) {
  const { members = {}, limits = {}, clock = new ManualClock(), secureContext } = options
  const [port = 0] = await freePorts(1)
  const configuration = tcpConfiguration.parse({ port, answer: 'OK\n', ...members })
  const made = sourceParts(configuration, wallOf(clock), limits, secureContext)
  const source = await openTcpSource(made.parts)
  context.after(async () => {
    made.inlet.store()
    const closed = source.close()
    await clock.advance(5000)
    await closed
  })
  await until(() => made.states.at(-1) === 'connected')
  return { ...made, port, clock, source }
}

/** Time as the test moves it; turns as they come. */
export function wallOf(clock: ManualClock) {
  return {
    now: () => clock.now(),
    monotonic: () => clock.monotonic(),
    after: (delay: number, run: () => void) => clock.after(delay, run),
    soon: (run: () => void) => systemClock.soon(run),
  }
}
