/** How a UDP port is listened at. */
import { z } from 'zod'
import { listenMembers } from './listen-configuration.ts'

/** Who sends may have written another's address: an answer is no longer than what anybody could send there by himself. */
const LONGEST_ANSWER = 64

export const udpConfiguration = z.object({
  ...listenMembers,
  /** Sent back for each datagram when it is stored; absent: nothing is sent. */
  answer: z.string().min(1).max(LONGEST_ANSWER).nullish(),
})

export type UdpConfiguration = z.output<typeof udpConfiguration>
