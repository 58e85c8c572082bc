/** What a queue does in which state. */

/**
 * running · changing: settings with other lanes wait until nothing is in process · retiring: it ends what it holds · closing: what is in
 * process ends, nothing else begins.
 */
export type QueueState = 'running' | 'changing' | 'retiring' | 'closing'

/** Whether it takes messages of the link, and whether what it holds may start. */
export const MAY: Record<QueueState, { readonly take: boolean; readonly start: boolean }> = {
  running: { take: true, start: true },
  changing: { take: false, start: false },
  retiring: { take: false, start: true },
  closing: { take: false, start: false },
}
