import { soleMember } from '../cluster/membership.ts'
import { systemClock, systemRandom } from '../../model/system-clock.ts'
import { RunClock } from '../../test/simulation/run-clock.ts'
import { testLink, type LinkUnderTest } from './contract.ts'
import { FrameLink } from './frame-link.ts'
import { MemoryStreams } from './memory-testkit.ts'

function underTest(streams: MemoryStreams): LinkUnderTest {
  const broker = streams.connect()
  const clock = new RunClock(systemClock)
  const membership = soleMember({ id: systemRandom.uuid(), roles: ['engine'], startedAt: 0 })
  const link = new FrameLink({
    broker,
    partitions: 8,
    letters: streams.letterStore(),
    membership,
    clock,
    random: systemRandom,
  })
  return {
    link,
    settlesDurable: () => link.flush(),
    reopen: async () => {
      await link.close()
      return underTest(streams)
    },
    crash: () => {
      broker.connect(false)
      clock.kill()
      return Promise.resolve(underTest(streams))
    },
    buried: () => link.deadLetters.list({ limit: 100 }),
    close: () => link.close(),
  }
}

testLink('frame link, broker in memory', () => Promise.resolve(underTest(new MemoryStreams(systemClock))))
