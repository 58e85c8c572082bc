/** What a node did to a message, told to who watches the node. */
import type { Message } from '../../model/message.ts'
import type { NodeDebug } from './chain-events.ts'
import { isEmissions, isFailure } from './emissions.ts'
import type { Emission, NodeOutput } from './node.ts'

/** Only in debug events: nothing is connected by it. */
export const ACKNOWLEDGED = 'ACK'

/** What a node made of a message, relation by relation, as the debug events of the reference name it; flow steps tell theirs when they are done. */
export function watchOutput(debug: NodeDebug, message: Message, output: NodeOutput): void {
  if (output === undefined) debug.left(message, ACKNOWLEDGED)
  else if (typeof output === 'string') debug.left(message, output)
  else if (isEmissions(output)) {
    if (isTakenOver(message, output)) debug.left(message, ACKNOWLEDGED)
    for (const emission of output) watchEmission(debug, emission)
  } else if (!('flow' in output)) watchEmission(debug, output)
}

/** Messages of their own were made of one, which itself goes no further. */
function isTakenOver(message: Message, emissions: readonly Emission[]): boolean {
  const [only] = emissions
  if (only !== undefined && emissions.length === 1) return only.message.id !== message.id
  return emissions.every((emission) => emission.message !== message)
}

export function tellTakenOver(debug: NodeDebug, message: Message, relation: string): void {
  debug.left(message, ACKNOWLEDGED)
  debug.left(message, relation)
}

function watchEmission(debug: NodeDebug, { message, relations, error }: Emission): void {
  for (const relation of relations) debug.left(message, relation, isFailure(relation) ? error : undefined)
}
