/** Rounds of messages of which one in a hundred devices changes its state, as all ways to have alarm rules are measured. */
import { spread, type Spread } from '../lib/report.ts'

export const DEVICES = 10_000
export const PACK = 1_000
/** Devices whose state is another after a round: half of them begin, and end a round later. */
export const CHANGING = DEVICES / 100

export interface MeasuredRounds {
  /** All, those before the first run too. */
  readonly rounds: number
  readonly messages: { readonly perSecond: Spread; readonly perProcessorSecond: Spread }
}

/** `sendPack` sends one message of each device from there on, and resolves once all have an outcome. */
export async function measureRounds(
  wanted: { readonly rounds: number; readonly runs: number },
  sendPack: (start: number, isHot: (index: number) => boolean) => Promise<void>,
): Promise<MeasuredRounds> {
  let round = 0
  const sendRound = async (): Promise<void> => {
    const isHot = (index: number): boolean => Math.floor(index / (CHANGING / 2)) === round % (DEVICES / (CHANGING / 2))
    for (let start = 0; start < DEVICES; start += PACK) await sendPack(start, isHot)
    round++
  }
  const perProcessorSecond: number[] = []
  const perSecond: number[] = []
  await sendRound()
  await sendRound()
  for (let run = 0; run < wanted.runs; run++) {
    const before = process.cpuUsage()
    const startedAt = performance.now()
    for (let done = 0; done < wanted.rounds; done++) await sendRound()
    const { user, system } = process.cpuUsage(before)
    perProcessorSecond.push(Math.round((wanted.rounds * DEVICES * 1e6) / (user + system)))
    perSecond.push(Math.round((wanted.rounds * DEVICES * 1000) / (performance.now() - startedAt)))
  }
  return { rounds: round, messages: { perSecond: spread(perSecond), perProcessorSecond: spread(perProcessorSecond) } }
}
