/** A batch of messages as one text: the lengths of its parts as a JSON array, a line break, then data, metadata, type of each. */
import type { Message } from '../../../model/message.ts'

/** The characters of a message's arguments, as the size limit counts them. */
export function argumentsSize(message: Message): number {
  let size = message.data.length + message.type.length
  for (const key in message.metadata) size += key.length + (message.metadata[key]?.length ?? 0)
  return size
}

/** The text of the messages from `start` up to `end`, exclusive. */
export function batchText(messages: readonly Message[], start: number, end: number): string {
  let lengths = ''
  let parts = ''
  for (let index = start; index < end; index++) {
    const message = messages[index]
    if (message === undefined) throw new RangeError(`no message ${index} in a batch of ${messages.length}`)
    const metadata = JSON.stringify(message.metadata)
    lengths += `${lengths === '' ? '' : ','}${message.data.length},${metadata.length},${message.type.length}`
    parts += message.data + metadata + message.type
  }
  return `[${lengths}]\n${parts}`
}
