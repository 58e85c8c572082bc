/**
 * The ids of messages that nodes put into queues. Each is a hash of what it comes from, so that a parent that is delivered twice makes
 * the same children: what stores or sends by id does so once.
 */
import { hash } from 'node:crypto'
import type { Message } from '../../model/message.ts'
import type { OnTheWay } from './way.ts'

/** Of the message that goes on behind one connection of a node. The way to the node tells apart what one parent sends there more than once. */
export function checkpointId(
  { message, returns, fork }: OnTheWay,
  nodeId: string,
  relation: string,
  targetId: string,
): string {
  const parts = ['checkpoint', message.id, nodeId, relation, targetId]
  for (let address = returns; address !== undefined; address = address.next) {
    parts.push('by', address.ruleChainId, address.ruleNodeId)
  }
  for (let way = fork; way !== undefined; way = way.before) parts.push('fork', way.nodeId, String(way.index))
  return idOf(parts)
}

/** Of a message that a node made of another: `message` still has the id of that one. What it says tells several apart. */
export function causedId(message: Message, nodeId: string): string {
  const { id, type, originator, metadata, data } = message
  return idOf(['caused', id, nodeId, type, originator.entityType, originator.id, JSON.stringify(metadata), data])
}

/** Of a message that a node with a memory sends: of its state, what caused it and the how manyth it is. */
export function sentId(stateId: string, cause: string, index: number): string {
  return idOf(['sent', stateId, cause, String(index)])
}

/** Of a message that goes on later, or at another process. */
export function deferredId(branch: OnTheWay, nodeId: string, how: 'later' | 'move', relation: string): string {
  return checkpointId(branch, nodeId, `${how} ${relation}`, nodeId)
}

/** Of a message at a node: the same when it is delivered again, another where it comes there a second time by another way. */
export function visitId({ message, returns, fork }: OnTheWay): string {
  if (returns === undefined && fork === undefined) return message.id
  const parts = ['visit', message.id]
  for (let address = returns; address !== undefined; address = address.next) {
    parts.push('by', address.ruleChainId, address.ruleNodeId)
  }
  for (let way = fork; way !== undefined; way = way.before) parts.push('fork', way.nodeId, String(way.index))
  return idOf(parts)
}

/** Of what a node does with alarms in one visit: one alarm of one entity, raised or cleared. */
export function alarmVisitId(
  visit: string,
  nodeId: string,
  does: 'raise' | 'clear',
  entityId: string,
  type: string,
): string {
  return idOf(['alarm', visit, nodeId, does, entityId, type])
}

/** Of the notification that a node asks for in one visit. */
export function notifiedId(visit: string, nodeId: string): string {
  return idOf(['notified', visit, nodeId])
}

/** The visit of a node as a number below 2^52, for a column of what it writes. */
export function writerOf(visit: string, nodeId: string): number {
  return Number.parseInt(hash('sha256', `${visit.length},${visit}${nodeId}`, 'hex').slice(0, 13), 16)
}

/** Of what goes to an entity's calculated fields: the same cause hands over the same. */
export function handedOverId(cause: string, entityId: string, what: string): string {
  return idOf(['calculated', cause, entityId, what])
}

/** A UUID of version 8: its bits are a hash of ours. */
function idOf(parts: readonly string[]): string {
  // Lengths first, so that no two lists of parts make one text.
  const digest = hash('sha256', `${parts.map(({ length }) => length).join()}:${parts.join('')}`, 'hex')
  const variant = '89ab'[Number.parseInt(digest.charAt(16), 16) % 4]
  return `${digest.slice(0, 8)}-${digest.slice(8, 12)}-8${digest.slice(13, 16)}-${variant}${digest.slice(17, 20)}-${digest.slice(20, 32)}`
}
