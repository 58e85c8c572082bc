import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import type { Clock } from '../model/clock.ts'
import type { Emission } from '../engine/rulechain/node.ts'
import { isMillraceError } from '../model/errors.ts'
import { stringifyJson, type JsonObject } from '../model/json.ts'
import { catalogue, ruleNodes } from './catalogue.ts'
import { createNode, RULE_CHAIN_ID, runNode, testContext, testMessage } from './testkit.ts'
import type { MessageDraft } from './testkit.ts'

const SOME_ID = '66666666-6666-4666-8666-666666666666'

/** Defaults that name nothing yet can not run: these nodes need one field set. */
const RUNNABLE: Readonly<Record<string, object>> = {
  'org.thingsboard.rule.engine.flow.TbRuleChainInputNode': { ruleChainId: RULE_CHAIN_ID },
  'org.thingsboard.rule.engine.action.TbCreateRelationNode': { entityType: 'TENANT' },
  'org.thingsboard.rule.engine.aws.lambda.TbAwsLambdaNode': { accessKey: 'A', secretKey: 'S', functionName: 'f' },
  'org.thingsboard.rule.engine.aws.sns.TbSnsNode': { accessKeyId: 'A', secretAccessKey: 'S' },
  'org.thingsboard.rule.engine.aws.sqs.TbSqsNode': { accessKeyId: 'A', secretAccessKey: 'S' },
  'org.thingsboard.rule.engine.gcp.pubsub.TbPubSubNode': { serviceAccountKey: '{}' },
  'org.thingsboard.rule.engine.ai.TbAiNode': {
    modelId: { entityType: 'AI_MODEL', id: SOME_ID },
    userPrompt: 'What is that?',
    forceAck: false,
  },
  'org.thingsboard.rule.engine.sms.TbSendSmsNode': {
    useSystemSmsSettings: false,
    smsProviderConfiguration: { type: 'TWILIO', accountSid: 'AC1', accountToken: 'token', numberFrom: '+15005550006' },
  },
  'org.thingsboard.rule.engine.action.TbSaveToCustomCassandraTableNode': {
    tableName: 'readings',
    fieldsMapping: { temperature: 'temperature' },
  },
  'org.thingsboard.rule.engine.rabbitmq.TbRabbitMqNode': { host: 'broker.example' },
  'org.thingsboard.rule.engine.mqtt.TbMqttNode': { host: 'broker.example' },
  'org.thingsboard.rule.engine.filter.TbCheckRelationNode': { checkForSingleEntity: false },
  'org.thingsboard.rule.engine.metadata.TbGetCustomerDetailsNode': { detailsList: ['TITLE'] },
  'org.thingsboard.rule.engine.metadata.TbGetTelemetryNode': { latestTsKeyNames: ['temperature'] },
  'org.thingsboard.rule.engine.metadata.TbGetTenantDetailsNode': { detailsList: ['TITLE'] },
  'org.thingsboard.rule.engine.mqtt.azure.TbAzureIotHubNode': {
    clientId: 'device',
    credentials: { type: 'sas', sasKey: 'a2V5' },
  },
  'org.thingsboard.rule.engine.notification.TbNotificationNode': {
    targets: [SOME_ID],
    templateId: { entityType: 'NOTIFICATION_TEMPLATE', id: SOME_ID },
  },
  'org.thingsboard.rule.engine.notification.TbSlackNode': {
    useSystemSettings: false,
    conversation: { id: 'C1' },
  },
}

const badMessages: readonly (MessageDraft & { readonly title: string })[] = [
  { title: 'no body', data: '' },
  { title: 'no JSON', data: '{"temperature":' },
  { title: 'a scalar', data: '17' },
  { title: 'null', data: 'null' },
  { title: 'an array of scalars', data: '[1,2]' },
  { title: 'a null value', data: '{"temperature":null}' },
  { title: 'an unknown type', type: 'NO_SUCH_TYPE', data: '{"temperature":1}' },
  { title: 'an originator that is no device', originatorType: 'TENANT', data: '{"temperature":1}' },
  { title: '1 MiB', data: `{"text":"${'x'.repeat(2 ** 20)}"}` },
  { title: 'a body nested too deep', data: '['.repeat(5000) + ']'.repeat(5000) },
]

const OWN_OR_REFERENCE =
  /^(org\.thingsboard\.rule\.engine\.[a-z.]+\.[A-Z][A-Za-z]+Node|millrace\.analytics\.[A-Z][A-Za-z]+)$/

test('every node type is in the catalogue once, under the class name that exported chains carry or a name of ours', () => {
  assert.ok(ruleNodes.length > 0)
  assert.equal(new Set(ruleNodes.map(({ type }) => type)).size, ruleNodes.length)
  for (const definition of ruleNodes) {
    assert.match(definition.type, OWN_OR_REFERENCE)
    assert.equal(catalogue.find(definition.type), definition)
  }
  assert.equal(catalogue.find('org.thingsboard.rule.engine.NoSuchNode'), undefined)
})

for (const definition of ruleNodes) {
  describe(`${definition.name} (${definition.type})`, () => {
    const configuration = { ...definition.defaultConfiguration, ...RUNNABLE[definition.type] }

    test('accepts its own defaults and says what its configuration is', () => {
      definition.check(definition.defaultConfiguration)
      assert.equal(definition.configurationSchema['type'], 'object')
      assert.notEqual(definition.description, '')
    })

    if (definition.takes !== undefined)
      test('fails messages of types that it does not take', async () => {
        const instance = await createNode(definition, configuration, testContext())
        const types = ['CONNECT_EVENT', 'ENTITY_CREATED', 'NO_SUCH_TYPE', ...(definition.takes ?? [])]
        for (const type of types) {
          const [result] = await runNode(instance, testMessage({ type, data: '{"temperature":1}' }))
          const isUnsupported = /Unsupported msg type/.test(result?.error?.message ?? errorOf(result?.emissions[0]))
          assert.equal(isUnsupported, definition.takes?.includes(type) === false, type)
        }
        await instance.close?.()
      })

    test('does not start with keys it does not know, unless it never reads them, and is saved with them', () => {
      const odd = { ...definition.defaultConfiguration, leftByAnOldVersion: { a: 1 } }
      if (definition.acceptsUnknownKeys) definition.check(odd)
      else assert.throws(() => definition.check(odd), /leftByAnOldVersion/)
      definition.checkSaved?.({ ...configuration, ...odd, ...RUNNABLE[definition.type] })
    })

    for (const example of definition.examples) {
      test(`example: ${example.title}`, async () => {
        const context = testContext()
        const instance = await createNode(definition, example.configuration, context)
        const [result] = await runNode(instance, testMessage(example.given))
        assert.ok(result !== undefined)
        const relations =
          result.step?.flow === 'acknowledge' ? ['Success'] : result.emissions.flatMap((out) => out.relations)
        assert.deepEqual(relations, example.expect.relations)
        const message = result.emissions[0]?.message
        if (example.expect.data !== undefined) assert.equal(message?.data, example.expect.data)
        if (example.expect.metadata !== undefined) assert.deepEqual(message?.metadata, example.expect.metadata)
        if (example.expect.type !== undefined) assert.equal(message?.type, example.expect.type)
        await instance.close?.()
      })
    }

    for (const scriptLang of stringifyJson(configuration).includes('scriptLang') ? ['TBEL', 'JS'] : ['']) {
      test(`gives each bad message exactly one outcome and stays usable ${scriptLang}`, async () => {
        const context = testContext({ clock: passingClock() })
        const chosen = scriptLang === '' ? configuration : { ...configuration, scriptLang }
        const instance = await createNode(definition, chosen, context)
        const good = testMessage({ data: '{"temperature":21}' })
        // The first leaves what a node does once, such as raising an alarm.
        await runNode(instance, good)
        const [before] = await runNode(instance, good)
        const results = await runNode(instance, ...badMessages.map(testMessage))
        assert.equal(results.length, badMessages.length)
        for (const { error } of results) if (error !== undefined) assert.notEqual(error.message, '')
        const [after] = await runNode(instance, good)
        assert.deepEqual(after, before)
        await instance.close?.()
      })
    }

    test('frees what it holds when it closes', async () => {
      const context = testContext()
      const instance = await createNode(definition, configuration, context)
      await instance.close?.()
      assert.equal(context.openScripts(), 0)
    })
  })
}

test('nodes that read the body fail what is no JSON and what has the wrong shape', async () => {
  for (const [type, titles] of Object.entries({
    'org.thingsboard.rule.engine.filter.TbJsFilterNode': ['no body', 'no JSON', 'null', 'a body nested too deep'],
    'org.thingsboard.rule.engine.transform.TbTransformMsgNode': ['no body', 'no JSON', 'a body nested too deep'],
    'org.thingsboard.rule.engine.telemetry.TbMsgTimeseriesNode': [
      'no body',
      'no JSON',
      'a scalar',
      'null',
      'an array of scalars',
      'a null value',
      'an unknown type',
      'a body nested too deep',
    ],
  })) {
    const definition = catalogue.find(type)
    assert.ok(definition !== undefined)
    const instance = await createNode(definition)
    const results = await runNode(instance, ...badMessages.map(testMessage))
    const failed = badMessages.filter((_, index) => results[index]?.emissions[0]?.relations[0] === 'Failure')
    assert.deepEqual(
      failed.map(({ title }) => title),
      titles,
    )
  }
})

test('a configuration of the wrong shape is refused with the name of the field', () => {
  for (const [type, configuration, field] of [
    ['filter.TbMsgTypeFilterNode', { messageTypes: 'POST_TELEMETRY_REQUEST' }, 'messageTypes'],
    ['filter.TbJsFilterNode', { scriptLang: 'PYTHON', jsScript: 'return true' }, 'scriptLang'],
    ['telemetry.TbMsgTimeseriesNode', { defaultTTL: 0, processingSettings: null }, 'processingSettings'],
    [
      'telemetry.TbMsgTimeseriesNode',
      { processingSettings: { type: 'DEDUPLICATE', deduplicationIntervalSecs: 0 } },
      'deduplicationIntervalSecs',
    ],
    ['telemetry.TbMsgAttributesNode', { scope: 'NO_SCOPE', processingSettings: { type: 'ON_EVERY_MESSAGE' } }, 'scope'],
    ['rpc.TbSendRPCRequestNode', { timeoutInSeconds: 'soon' }, 'timeoutInSeconds'],
    ['filter.TbAssetTypeSwitchNode', { version: 0, type: 'hall' }, 'type'],
    ['filter.TbDeviceTypeSwitchNode', { version: 0, type: 'pump' }, 'type'],
    ['filter.TbOriginatorTypeSwitchNode', { version: 0, type: 'DEVICE' }, 'type'],
  ] as const) {
    const definition = catalogue.find(`org.thingsboard.rule.engine.${type}`)
    assert.throws(
      () => definition?.check({ ...configuration }),
      (error) => isMillraceError(error) && error.kind === 'invalid' && error.message.includes(field),
      `${type} ${field}`,
    )
  }
})

test('a text that is no script, path or expression is refused with the name of the field that holds it', async () => {
  const cases: readonly (readonly [type: string, configuration: JsonObject, reason: string])[] = [
    ['filter.TbJsFilterNode', { scriptLang: 'TBEL', tbelScript: ' ' }, 'tbelScript: script body is blank'],
    ['filter.TbJsFilterNode', { scriptLang: 'JS', jsScript: ' ' }, 'jsScript: script body is blank'],
    [
      'action.TbCreateAlarmNode',
      { severity: 'MINOR', scriptLang: 'TBEL' },
      'alarmDetailsBuildTbel: script body is blank',
    ],
    ['action.TbClearAlarmNode', { scriptLang: 'JS' }, 'alarmDetailsBuildJs: script body is blank'],
    ['debug.TbMsgGeneratorNode', { scriptLang: 'TBEL', tbelScript: ' ' }, 'tbelScript: script body is blank'],
    ['transform.TbJsonPathNode', { jsonPath: '$[' }, 'jsonPath: The JSON path is wrong at position 2'],
    ['transform.TbCopyKeysNode', { copyFrom: 'DATA', keys: ['a('] }, "keys: The key 'a(' is no regular expression"],
    ['transform.TbDeleteKeysNode', { deleteFrom: 'DATA', keys: ['a('] }, "keys: The key 'a(' is no regular expression"],
  ]
  for (const [type, configuration, reason] of cases) {
    const definition = catalogue.find(`org.thingsboard.rule.engine.${type}`)
    assert.ok(definition !== undefined)
    await assert.rejects(
      createNode(definition, {
        ...definition.defaultConfiguration,
        ...cleared(definition.defaultConfiguration),
        ...configuration,
      }),
      (error) => isMillraceError(error) && error.kind === 'invalid' && error.message.startsWith(reason),
      `${type}: ${reason}`,
    )
  }
})

/** Of a node that tells its failures itself. */
function errorOf(emission: Emission | undefined): string {
  return emission?.message.metadata['error'] ?? ''
}

/** Scripts are blank where the test does not write one. */
function cleared(configuration: object): Record<string, string> {
  const scripts = Object.keys(configuration).filter((key) => /Script$|^alarmDetailsBuild/.test(key))
  return Object.fromEntries(scripts.map((key) => [key, '']))
}

test('what a chain may not be saved with is refused with the name of the field, and what only keeps a node from starting is saved', () => {
  const settings = { type: 'DEDUPLICATE', deduplicationIntervalSecs: 0 }
  const modelId = { entityType: 'AI_MODEL', id: SOME_ID }
  const templateId = { entityType: 'NOTIFICATION_TEMPLATE', id: SOME_ID }
  const cases: readonly (readonly [type: string, configuration: JsonObject, field: string | undefined])[] = [
    ['telemetry.TbMsgTimeseriesNode', { processingSettings: null }, 'processingSettings'],
    ['telemetry.TbMsgTimeseriesNode', { processingSettings: settings }, undefined],
    ['telemetry.TbMsgAttributesNode', { processingSettings: null }, 'processingSettings'],
    ['telemetry.TbMsgAttributesNode', { processingSettings: { type: 'NEVER' } }, undefined],
    ['notification.TbNotificationNode', { targets: [], templateId }, 'targets'],
    ['notification.TbNotificationNode', { targets: [SOME_ID], templateId: null }, 'templateId'],
    ['notification.TbNotificationNode', { targets: [SOME_ID], templateId }, undefined],
    ['notification.TbSlackNode', { messageTemplate: '', conversation: { id: 'C1' } }, 'messageTemplate'],
    ['notification.TbSlackNode', { conversation: null }, 'conversation'],
    ['notification.TbSlackNode', { conversation: { id: 'C1' } }, undefined],
    ['ai.TbAiNode', { modelId, userPrompt: ' ' }, 'userPrompt'],
    ['ai.TbAiNode', { modelId: null, userPrompt: 'What is that?' }, 'modelId'],
    ['ai.TbAiNode', { modelId, userPrompt: 'What is that?' }, undefined],
  ]
  for (const [type, configuration, field] of cases) {
    const definition = catalogue.find(`org.thingsboard.rule.engine.${type}`)
    assert.ok(definition?.checkSaved !== undefined)
    const check = (): void => definition.checkSaved?.({ ...definition.defaultConfiguration, ...configuration })
    if (field === undefined) assert.doesNotThrow(check, type)
    else
      assert.throws(
        check,
        (error) => isMillraceError(error) && error.message.includes(`: ${field}: `),
        `${type} ${field}`,
      )
  }
})

/** Ten seconds pass between two looks: what bounds a rate has room again. */
function passingClock(): Clock {
  let passed = 0
  const { clock } = testContext()
  return { ...clock, monotonic: () => (passed += 10_000) }
}
