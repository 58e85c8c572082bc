import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { NODE, type NodeBench } from './testkit.ts'
import { bench, commands, born } from './node.testkit.ts'

describe('commands of Sparkplug', () => {
  const children = (opened: NodeBench) => opened.gateway.sessionsOf('plant:node:D')[0]
  const own = (opened: NodeBench) => opened.gateway.sessionsOf('one')[0]

  it('are changes of shared attributes, for metrics of the birth and in their datatype', () =>
    bench(async (opened) => {
      const { node } = opened
      await born(opened)
      const before = node.packets.length
      children(opened)?.listener.sharedAttributesChanged({
        kind: 'updated',
        entries: [
          { key: 'target', type: 'LONG', value: -5 },
          { key: 'unknown', type: 'LONG', value: 1 },
          { key: 'temperature', type: 'STRING', value: 'warm' },
          { key: 'DCMD', type: 'JSON', value: '{"conf/mode":"dry","temperature":"21.5","nothing":1}' },
        ],
      })
      own(opened)?.listener.sharedAttributesChanged({
        kind: 'updated',
        entries: [{ key: 'NCMD', type: 'JSON', value: '{"Node Control/Rebirth":1}' }],
      })
      own(opened)?.listener.sharedAttributesChanged({ kind: 'deleted', keys: ['speed'] })
      await node.received(before + 2)
      assert.deepEqual(commands(node), [
        [
          `${NODE}/DCMD/node/D`,
          [
            { alias: 4, datatype: 3, int_value: 4_294_967_291 },
            { name: 'conf/mode', datatype: 12, string_value: 'dry' },
            { alias: 3, datatype: 10, double_value: 21.5 },
          ],
        ],
        [`${NODE}/NCMD/node`, [{ alias: 1, datatype: 11, boolean_value: true }]],
      ])
    }))

  it('are calls once the node has taken them', () =>
    bench(async (opened) => {
      const { node } = opened
      await born(opened)
      const before = node.packets.length
      children(opened)?.listener.called?.({ id: 9, method: 'DCMD', params: '{"metricName":"target","value":"17"}' })
      const push = (await node.received(before + 1))[before]
      assert.deepEqual(commands(node), [[`${NODE}/DCMD/node/D`, [{ alias: 4, datatype: 3, int_value: 17 }]]])
      assert.deepEqual(children(opened)?.callAnswers, [])
      assert.ok(push?.cmd === 'publish' && push.qos === 1)
      node.send({ cmd: 'puback', messageId: push.messageId ?? 0 }, { cmd: 'pingreq' })
      await node.received(before + 2)
      assert.deepEqual(children(opened)?.callAnswers, [[9, '{"result":"Success: DCMD"}']])
      assert.deepEqual(children(opened)?.deliveries, [
        [9, 'SENT'],
        [9, 'DELIVERED'],
      ])
    }))

  it('that can not be are answered with the reason, and not sent', () =>
    bench(async (opened) => {
      await born(opened)
      const calls = [
        ['DCMD', '{"metricName":"speed","value":1}'],
        ['reboot', '{"metricName":"speed","value":1}'],
        ['NCMD', '{"metricName":"unknown","value":1}'],
        ['NCMD', '{"metricName":"speed"}'],
        ['NCMD', 'no JSON'],
        ['NCMD', '{"metricName":"speed","value":128}'],
        ['NCMD', '{"metricName":"speed","value":null}'],
      ]
      for (const [id, [method = '', params = '']] of calls.entries())
        own(opened)?.listener.called?.({ id, method, params })
      const answers = own(opened)?.callAnswers ?? []
      assert.equal(answers.length, calls.length)
      for (const [, answer] of answers) assert.match(answer, /^\{"result":"BAD_REQUEST_PARAMS","error":".+"\}$/)
      assert.deepEqual(commands(opened.node), [])
    }))

  it('come with the QoS that was subscribed, and not before the birth', () =>
    bench(async (opened) => {
      const { node } = opened
      assert.deepEqual([own(opened)?.listening, own(opened)?.subscribed], [undefined, false])
      node.send({ cmd: 'subscribe', messageId: 1, subscriptions: [{ topic: `${NODE}/NCMD/node`, qos: 0 }] })
      await born(opened)
      assert.deepEqual([own(opened)?.listening, own(opened)?.subscribed], ['all', true])
      const before = node.packets.length
      own(opened)?.listener.called?.({ id: 1, method: 'NCMD', params: '{"metricName":"speed","value":-128}' })
      const push = (await node.received(before + 1))[before]
      assert.ok(push?.cmd === 'publish' && push.qos === 0)
      assert.deepEqual(own(opened)?.callAnswers, [[1, '{"result":"Success: NCMD"}']])
    }))
})
