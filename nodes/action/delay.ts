/** Lets each message go on after a time, which survives a restart; the source is settled meanwhile (`rule-nodes.md` 45). */
import { z } from 'zod'
import type { Message } from '../../model/message.ts'
import { defineNode, orZero } from '../define-node.ts'
import { NodeErrors } from '../errors.ts'
import { pattern } from '../pattern.ts'

/** As the reference reads it: a signed number of 32 bits. */
const LONGEST_S = 2 ** 31 - 1

export const delay = defineNode({
  type: 'org.thingsboard.rule.engine.delay.TbMsgDelayNode',
  name: 'delay (deprecated)',
  category: 'ACTION',
  relations: ['Success'],
  description: 'Keeps each message for a time and lets it go on then. More than the bound that waits fails.',
  differs: 'What waits survives a restart.',
  configuration: z.looseObject({
    periodInSeconds: orZero(z.int(), 0).meta({ title: 'Period', description: 'Seconds.' }),
    maxPendingMsgs: orZero(z.int(), 0).meta({ title: 'Bound', description: 'Messages that may wait.' }),
    periodInSecondsPattern: orZero(z.string(), '').meta({
      title: 'Period pattern',
      description: 'Gives the seconds; its places are filled from the message.',
    }),
    useMetadataPeriodInSecondsPatterns: orZero(z.boolean(), false).meta({
      title: 'By pattern',
      description: 'The pattern counts, not the period.',
    }),
  }),
  defaults: {
    periodInSeconds: 60,
    maxPendingMsgs: 1000,
    periodInSecondsPattern: null,
    useMetadataPeriodInSecondsPatterns: false,
  },
  editor: { form: 'tbActionNodeMsgDelayConfig' },
  examples: [
    {
      title: 'a period that is no number',
      configuration: {
        ...{ periodInSeconds: 1, maxPendingMsgs: 10 },
        ...{ periodInSecondsPattern: '${wait}', useMetadataPeriodInSecondsPatterns: true },
      },
      given: { data: '{"a":1}', metadata: { wait: 'long' } },
      expect: { relations: ['Failure'] },
    },
  ],
  uses: ['state'],
  create: (configuration, { services: { state }, clock }) => {
    const { periodInSeconds, maxPendingMsgs, periodInSecondsPattern } = configuration
    const textOf = configuration.useMetadataPeriodInSecondsPatterns ? pattern(periodInSecondsPattern) : undefined
    const secondsOf = (message: Message): number =>
      textOf === undefined ? periodInSeconds : wholeNumber(textOf(message))
    return {
      handle: (message) => {
        const seconds = secondsOf(message)
        if (state.waiting() >= maxPendingMsgs) throw NodeErrors.PENDING_TOO_MANY({ limit: maxPendingMsgs })
        return { flow: 'later', relation: 'Success', at: clock.now() + seconds * 1000 }
      },
    }
  },
})

function wholeNumber(text: string): number {
  const seconds = Number(text)
  if (!/^[+-]?\d+$/.test(text) || Math.abs(seconds) > LONGEST_S) {
    throw NodeErrors.VALUE_INVALID({ key: 'periodInSecondsPattern', expected: 'a whole number of seconds' })
  }
  return seconds
}
