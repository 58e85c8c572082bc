import assert from 'node:assert/strict'
import { test } from 'node:test'
import { isMillraceError } from '../../model/errors.ts'
import { entityId } from '../../model/entity-id.ts'
import type { Message } from '../../model/message.ts'
import { createNode, runNode, TENANT_ID, testContext, testMessage } from '../testkit.ts'
import { acknowledge } from './acknowledge.ts'
import { checkpoint } from './checkpoint.ts'
import { ruleChainInput } from './rule-chain-input.ts'
import { ruleChainOutput } from './rule-chain-output.ts'

const TARGET = '77777777-7777-4777-8777-777777777777'
const DEFAULT_CHAIN = '88888888-8888-4888-8888-888888888888'
const OTHER_CHAIN = '66666666-6666-4666-8666-666666666666'
const message = testMessage({ data: '{}' })

test('acknowledge settles and goes on', async () => {
  const [result] = await runNode(await createNode(acknowledge), message)
  assert.deepEqual(result?.step, { flow: 'acknowledge' })
})

test('checkpoint puts the message into its node’s queue, as the link calls it, or leaves it in its own', async () => {
  const [own] = await runNode(await createNode(checkpoint), message)
  assert.deepEqual(own?.step, { flow: 'enqueue', relation: 'Success' })
  const named = await createNode(checkpoint, {}, testContext({ queueName: 'Slow' }))
  const [result] = await runNode(named, message)
  assert.deepEqual(result?.step, { flow: 'enqueue', relation: 'Success', queueName: `${TENANT_ID}.Slow` })
})

test('checkpoint can not be made for a queue that is not there', async () => {
  await assert.rejects(createNode(checkpoint, {}, testContext({ queueName: 'Gone' })), /There is no queue Gone/)
})

test('output returns by its own name', async () => {
  const instance = await createNode(ruleChainOutput, {}, testContext({ ruleNodeName: 'Alarm' }))
  const [result] = await runNode(instance, message)
  assert.deepEqual(result?.step, { flow: 'return', relation: 'Alarm' })
})

test('rule chain enters the configured chain, or the default chain that the message carries', async () => {
  const context = withTarget()
  const fixed = await createNode(ruleChainInput, { ruleChainId: TARGET.toUpperCase() }, context)
  const forwarding = await createNode(
    ruleChainInput,
    { ruleChainId: TARGET, forwardMsgToDefaultRuleChain: true },
    context,
  )
  const ofDevice: Message = message.with({ ruleChainId: DEFAULT_CHAIN })
  const targetOf = async (instance: typeof fixed, given: Message) => (await runNode(instance, given))[0]?.step
  assert.deepEqual(await targetOf(fixed, ofDevice), { flow: 'enter', ruleChainId: TARGET })
  assert.deepEqual(await targetOf(forwarding, ofDevice), { flow: 'enter', ruleChainId: DEFAULT_CHAIN })
  assert.deepEqual(await targetOf(forwarding, message), { flow: 'enter', ruleChainId: TARGET })
})

test('rule chain enters the default chain of a changed originator, not of the one that the message came with', async () => {
  const context = withTarget()
  const asset = entityId('ASSET', '99999999-9999-4999-8999-999999999999')
  const forwarding = await createNode(
    ruleChainInput,
    { ruleChainId: TARGET, forwardMsgToDefaultRuleChain: true },
    context,
  )
  const redirected = message.with({ ruleChainId: DEFAULT_CHAIN }).with({ originator: asset })
  const target = async () => (await runNode(forwarding, redirected))[0]?.step
  assert.deepEqual(await target(), { flow: 'enter', ruleChainId: TARGET })
  context.fakes.routes.held.set(asset.id, { ruleChainId: OTHER_CHAIN, queueName: undefined })
  assert.deepEqual(await target(), { flow: 'enter', ruleChainId: OTHER_CHAIN })
})

test('rule chain can not be made without the id of a chain of the tenant', async () => {
  for (const ruleChainId of [null, 'the root', OTHER_CHAIN]) {
    await assert.rejects(
      createNode(ruleChainInput, { ruleChainId }, withTarget()),
      (error) => isMillraceError(error) && error.kind === 'invalid' && error.message.includes('ruleChainId'),
    )
  }
})

/** The tenant has the chain. */
function withTarget() {
  const context = testContext()
  context.fakes.entities.add({ id: entityId('RULE_CHAIN', TARGET), name: 'Target' })
  return context
}
