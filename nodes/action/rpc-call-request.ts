/**
 * Sends a call to the originating device (`rule-nodes.md` 53): one that a user made, or one that the chain made. The message is settled
 * at once. The outcome goes to the user who waits for it, and on behind this node: what the device answered, or why it did not.
 */
import { z } from 'zod'
import { isJsonObject, jsonText, stringifyJson, type JsonValue } from '../../model/json.ts'
import type { Message } from '../../model/message.ts'
import type { NodeCallOutcome, NodeDeviceCall } from '../../engine/rulechain/capabilities/calls.ts'
import type { NodeOutcome } from '../../engine/rulechain/node.ts'
import { defineNode, orZero } from '../define-node.ts'
import { NodeErrors } from '../errors.ts'

export const rpcCallRequest = defineNode({
  type: 'org.thingsboard.rule.engine.rpc.TbSendRPCRequestNode',
  name: 'rpc call request',
  category: 'ACTION',
  relations: ['Success'],
  description:
    "Calls the originating device. Success carries what it answered ({} where it need not), Failure why it did not; a persistent call's id where it is kept.",
  configuration: z.looseObject({
    timeoutInSeconds: orZero(z.int().min(0), 0).meta({ title: 'Timeout', description: 'Seconds to wait.' }),
  }),
  defaults: { timeoutInSeconds: 60 },
  editor: { form: 'tbActionNodeRpcRequestConfig', icon: 'call_made' },
  examples: [],
  uses: ['calls'],
  effects: true,
  create: ({ timeoutInSeconds }, { services, clock }) => ({
    handle: (message) => {
      const { entityType } = message.originator
      if (entityType !== 'DEVICE') throw NodeErrors.UNSUPPORTED_ORIGINATOR({ type: entityType, expected: 'DEVICE' })
      const until = clock.now() + timeoutInSeconds * 1000
      const asked = services.calls.toDevice(callOf(message, until))
      return { flow: 'afterwards', outcome: asked.then((outcome) => outcomeOf(message, outcome, clock.now())) }
    },
  }),
})

/** Of a message of the time at which it was answered. */
function outcomeOf(message: Message, outcome: NodeCallOutcome, ts: number): NodeOutcome {
  const { error, isKept, response } = outcome
  if (error !== undefined) {
    const data = JSON.stringify({ error })
    return { message: message.with({ data, ts }), relation: 'Failure', error: NodeErrors.CALL_FAILED({ error }) }
  }
  const data = isKept === true ? JSON.stringify({ rpcId: idOf(message) }) : (response ?? '')
  return { message: message.with({ data: data === '' ? '{}' : data, ts }), relation: 'Success' }
}

/** A redelivered message is the same call. */
function idOf(message: Message): string {
  return said(message, 'requestUUID') ?? message.id
}

/** An empty text says nothing. */
function said({ metadata }: Message, key: string): string | undefined {
  return metadata[key] === '' ? undefined : metadata[key]
}

function callOf(message: Message, until: number): NodeDeviceCall {
  const { metadata, originator, tenantId } = message
  const body = message.json()
  const method = isJsonObject(body) ? methodOf(body['method']) : ''
  if (!isJsonObject(body) || method === '') throw NodeErrors.CALL_MALFORMED({ missing: 'method' })
  const params = body['params']
  if (params === undefined) throw NodeErrors.CALL_MALFORMED({ missing: 'params' })
  const expirationTime = Number(said(message, 'expirationTime') ?? Number.NaN)
  const retries = Number(said(message, 'retries') ?? Number.NaN)
  return {
    id: idOf(message),
    tenantId,
    deviceId: originator.id,
    method,
    params: textOf(params),
    isOneway: metadata['oneway'] === 'true',
    isPersistent: metadata['persistent'] === 'true',
    expirationTime: Number.isFinite(expirationTime) ? expirationTime : until,
    retries: Number.isInteger(retries) ? retries : null,
    additionalInfo: body['additionalInfo'] === undefined ? null : jsonText(textOf(body['additionalInfo'])),
    origin: metadata['originServiceId'] ?? '',
  }
}

/** The text of a number or a flag names a method too, as in the reference. */
function methodOf(value: JsonValue | undefined): string {
  const isName = value !== undefined && value !== null && !isJsonObject(value) && !Array.isArray(value)
  return isName ? textOf(value) : ''
}

/** Users' calls carry JSON as text, chains may carry it as it is. */
function textOf(value: JsonValue): string {
  return typeof value === 'string' ? value : stringifyJson(value)
}
