import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { isJsonObject } from '../../model/json.ts'
import { assets } from '../entities/asset.ts'
import { deviceProfiles } from '../entities/device-profile.ts'
import { devices } from '../entities/device.ts'
import { openTestPlatform, type TestPlatform } from '../testkit.ts'
import { csvLines, wholeLines } from './csv.ts'
import type { ImportColumn } from './importer.ts'

const PROFILE_IN_USE = "Can't change device profile transport type because devices referenced it!"

describe('a bulk import', () => {
  let platform: TestPlatform
  before(async () => {
    platform = await openTestPlatform()
  })
  after(() => platform.close())

  const run = (file: string, columns: readonly ImportColumn[], update = false, type: 'DEVICE' | 'ASSET' = 'DEVICE') =>
    platform.services.bulkImport.run(platform.tenant, type, { file, columns, delimiter: ',', hasHeader: false, update })

  test('makes what is not there, with token, attributes and series', async () => {
    const { services, tenantId, timeSeries } = platform
    const columns: readonly ImportColumn[] = [
      { type: 'NAME' },
      { type: 'TYPE' },
      { type: 'ACCESS_TOKEN' },
      { type: 'IS_GATEWAY' },
      { type: 'SHARED_ATTRIBUTE', key: 'x' },
      { type: 'TIMESERIES', key: 't' },
    ]
    const result = await run('one,pump,TOKEN_1,true,1.5,7\ntwo,,,,text,\n', columns)
    assert.deepEqual(result, { created: 2, updated: 0, errors: 0, errorsList: [] })
    const one = await services.declared.of(devices).findByName(tenantId, 'one')
    assert.deepEqual([one?.type, one?.additionalInfo], ['pump', { gateway: true }])
    assert.equal((await services.devices.credentials(tenantId, one?.id ?? ''))?.credentialsId, 'TOKEN_1')
    const entity = { entityType: 'DEVICE', id: one?.id ?? '' } as const
    const { value } = await services.attributes.find(entity, 'SHARED_SCOPE', undefined)
    assert.deepEqual(
      value.map((attribute) => [attribute.key, attribute.type, attribute.value]),
      [['x', 'DOUBLE', 1.5]],
    )
    assert.ok(timeSeries.writes.flat().some(({ entityId }) => entityId === one?.id))
  })

  test('reads numbers as JSON has them, and with a comma before their decimals', async () => {
    const { services, tenantId } = platform
    const kinds = [
      ...[
        ['7', 'LONG', 7],
        ['-0', 'LONG', 0],
        ['+5', 'LONG', 5],
        ['1e3', 'LONG', 1000],
      ],
      ...[
        ['9007199254740993', 'LONG', 9007199254740993n],
        ['9223372036854775808', 'STRING', '9223372036854775808'],
      ],
      ...[
        ['2.0', 'DOUBLE', 2],
        ['1,5', 'DOUBLE', 1.5],
        ['.25', 'DOUBLE', 0.25],
        ['5.', 'DOUBLE', 5],
      ],
      ...[
        ['1.5e-3', 'DOUBLE', 0.0015],
        ['0.12345678901234567', 'STRING', '0.12345678901234567'],
      ],
      ...[
        ['1e400', 'STRING', '1e400'],
        ['1,000,000', 'STRING', '1,000,000'],
        ['0x10', 'STRING', '0x10'],
      ],
      ...[
        ['TRUE', 'BOOLEAN', true],
        ['yes', 'STRING', 'yes'],
      ],
    ] as const
    const columns = kinds.map((_, index) => ({ type: 'SERVER_ATTRIBUTE', key: `k${String(index).padStart(2, '0')}` }))
    const line = ['typed', ...kinds.map(([text]) => `"${text}"`)].join(',')
    const result = await run(`${line}\n`, [{ type: 'NAME' }, ...columns])
    assert.deepEqual(result, { created: 1, updated: 0, errors: 0, errorsList: [] })
    const device = await services.declared.of(devices).findByName(tenantId, 'typed')
    const entity = { entityType: 'DEVICE', id: device?.id ?? '' } as const
    const { value } = await services.attributes.find(
      entity,
      'SERVER_SCOPE',
      columns.map(({ key }) => key),
    )
    const read = new Map(value.map((attribute) => [attribute.key, [attribute.type, attribute.value]]))
    for (const [index, [text, type, expected]] of kinds.entries())
      assert.deepEqual(read.get(columns[index]?.key ?? ''), [type, expected], text)
  })

  test('takes the strongest credentials that a line names', async () => {
    const { services, tenantId } = platform
    const columns = ['NAME', 'ACCESS_TOKEN', 'MQTT_USER_NAME', 'MQTT_PASSWORD', 'X509', 'LWM2M_CLIENT_ENDPOINT']
    const lines = ['s1,T1,u1,,,', 's2,T2,u2,p,Y2VydA==,', 's3,T3,,,Y2VydDM=,urn:s3', 's4,T4,,p,,', 's5,T5,,,,']
    const result = await run(
      lines.join('\n'),
      columns.map((type) => ({ type })),
    )
    assert.deepEqual(result.errorsList, [
      'Line 4: DataValidationException: Both mqtt client id and user name are empty!',
    ])
    const kinds = []
    for (const name of ['s1', 's2', 's3', 's5']) {
      const device = await services.declared.of(devices).findByName(tenantId, name)
      kinds.push((await services.devices.credentials(tenantId, device?.id ?? ''))?.credentialsType)
    }
    assert.deepEqual(kinds, ['MQTT_BASIC', 'X509_CERTIFICATE', 'LWM2M_CREDENTIALS', 'ACCESS_TOKEN'])
  })

  test('credentials of LwM2M make a profile of that protocol, or make one without devices speak it', async () => {
    const { services, tenant, tenantId } = platform
    const profiles = services.declared.of(deviceProfiles)
    await profiles.saveByUser(tenant, { name: 'idle meters', type: 'DEFAULT', transportType: 'DEFAULT' })
    await services.devices.saveByUser(tenant, { name: 'plain', type: 'plain meters' })
    const columns = ['NAME', 'TYPE', 'LWM2M_CLIENT_ENDPOINT'].map((type) => ({ type }))
    const lines = ['m1,meters,urn:m1', 'm2,meters,urn:m2', 'm3,idle meters,urn:m3', 'm4,plain meters,urn:m4']
    const result = await run(`${lines.join('\n')}\n`, columns)
    assert.deepEqual(result, {
      ...{ created: 3, updated: 0, errors: 1 },
      errorsList: [`Line 4: DataValidationException: ${PROFILE_IN_USE}`],
    })
    const shown = []
    for (const name of ['meters', 'idle meters', 'plain meters']) {
      const profile = await profiles.findByName(tenantId, name)
      const transport = profile?.profileData?.['transportConfiguration']
      assert.ok(isJsonObject(transport))
      shown.push([name, profile?.transportType, transport['type'], transport['bootstrap']])
    }
    assert.deepEqual(shown, [
      ['meters', 'LWM2M', 'LWM2M', []],
      ['idle meters', 'LWM2M', 'LWM2M', []],
      ['plain meters', 'DEFAULT', 'DEFAULT', undefined],
    ])
    const device = await services.declared.of(devices).findByName(tenantId, 'm1')
    assert.deepEqual(device?.deviceData?.['transportConfiguration'], { type: 'LWM2M' })
  })

  test('passes over columns of values without a key', async () => {
    const { services, tenantId } = platform
    const columns: readonly ImportColumn[] = [
      { type: 'NAME' },
      ...[undefined, null, '', 'floor'].map((key) => ({ type: 'SERVER_ATTRIBUTE', key })),
    ]
    const result = await run('keyless,1,2,3,4,5\n', [...columns, { type: 'TIMESERIES' }])
    assert.deepEqual(result, { created: 1, updated: 0, errors: 0, errorsList: [] })
    const device = await services.declared.of(devices).findByName(tenantId, 'keyless')
    const entity = { entityType: 'DEVICE', id: device?.id ?? '' } as const
    const { value } = await services.attributes.find(entity, 'SERVER_SCOPE', undefined)
    assert.deepEqual(
      value.filter(({ key }) => key !== 'active').map(({ key, value: text }) => [key, text]),
      [['floor', 4]],
    )
  })

  test('says of each line why it was refused, and of such a line nothing stays', async () => {
    const { services, tenantId } = platform
    const columns: readonly ImportColumn[] = [{ type: 'NAME' }, { type: 'ACCESS_TOKEN' }]
    const result = await run('good,T_GOOD\n,T_NONE\nthief,TOKEN_1\n', columns)
    assert.deepEqual([result.created, result.errors], [1, 2])
    assert.deepEqual(result.errorsList, [
      'Line 2: DataValidationException: Device name should be specified!',
      'Line 3: DataValidationException: Device credentials are already assigned to another device!',
    ])
    assert.equal(await services.declared.of(devices).findByName(tenantId, 'thief'), undefined)
  })

  test('a name that comes again is changed by its last line, however far behind the first it is', async () => {
    const { services, tenantId } = platform
    const lines = Array.from({ length: 900 }, (_, index) => `again ${index % 150},label ${index}\n`)
    const result = await run(lines.join(''), [{ type: 'NAME' }, { type: 'LABEL' }])
    assert.deepEqual(result, { created: 150, updated: 750, errors: 0, errorsList: [] })
    for (const index of [0, 77, 149]) {
      const found = await services.declared.of(devices).findByName(tenantId, `again ${index}`)
      assert.equal(found?.label, `label ${750 + index}`)
    }
  })

  test('of a line without attributes no read fails unheard', async (context) => {
    const away = (): Promise<never> => Promise.reject(new Error('the database is away'))
    context.mock.method(platform.services.declared.of(devices), 'routeOf', away)
    await assert.rejects(run('plain\n', [{ type: 'NAME' }]), { message: 'the database is away' })
  })

  /** More text than one entity's attributes may have together. */
  const TOO_LONG = 'x'.repeat(16 * 2 ** 20 + 1)

  test('of a line whose values are refused nothing stays: no entity, no profile, no other credentials', async () => {
    const { services, tenantId } = platform
    const profiles = services.declared.of(deviceProfiles)
    const columns: readonly ImportColumn[] = [
      { type: 'NAME' },
      { type: 'TYPE' },
      { type: 'ACCESS_TOKEN' },
      { type: 'LABEL' },
      { type: 'SHARED_ATTRIBUTE', key: 'k' },
    ]
    const fresh = await run(`half,unheard-of,T_HALF,,${TOO_LONG}\n`, columns)
    assert.deepEqual([fresh.created, fresh.errors], [0, 1])
    assert.equal(await services.declared.of(devices).findByName(tenantId, 'half'), undefined)
    assert.equal(await profiles.findByName(tenantId, 'unheard-of'), undefined)

    await run('whole,pump,T_WHOLE,before,1\n', columns)
    const known = await run(`whole,unheard-of,T_OTHER,after,${TOO_LONG}\n`, columns, true)
    assert.deepEqual([known.updated, known.errors], [0, 1])
    const whole = await services.declared.of(devices).findByName(tenantId, 'whole')
    assert.deepEqual([whole?.type, whole?.label, whole?.version], ['pump', 'before', 1])
    assert.equal((await services.devices.credentials(tenantId, whole?.id ?? ''))?.credentialsId, 'T_WHOLE')
    assert.equal(await profiles.findByName(tenantId, 'unheard-of'), undefined)
  })

  test('a change that comes between is not overwritten: the line says only what it says', async (context) => {
    const { services, tenant, tenantId } = platform
    const service = services.declared.of(assets)
    const made = await service.saveByUser(tenant, { name: 'shared', type: 'building', label: 'old' })
    const { entities } = platform
    const write = entities.write.bind(entities)
    let isFirst = true
    context.mock.method(entities, 'write', async (steps: Parameters<typeof write>[0]) => {
      if (isFirst) {
        isFirst = false
        await service.saveByUser(tenant, { ...made, version: undefined, label: 'new' })
      }
      return write(steps)
    })
    const columns: readonly ImportColumn[] = [{ type: 'NAME' }, { type: 'DESCRIPTION' }]
    assert.equal((await run('shared,text\n', columns, true, 'ASSET')).updated, 1)
    const after = await service.findByName(tenantId, 'shared')
    assert.deepEqual([after?.label, after?.additionalInfo], ['new', { description: 'text' }])
  })

  test('a name twice in one file is one entity, as the later line has it', async () => {
    const { services, tenantId } = platform
    const result = await run('twice,a\ntwice,b\n', [{ type: 'NAME' }, { type: 'LABEL' }])
    assert.deepEqual(result, { created: 1, updated: 1, errors: 0, errorsList: [] })
    assert.equal((await services.declared.of(devices).findByName(tenantId, 'twice'))?.label, 'b')
  })

  test('changes what is there by its name; its values only where asked to', async () => {
    const { services, tenant, tenantId } = platform
    const service = services.declared.of(assets)
    const made = await service.saveByUser(tenant, { name: 'hall', type: 'building', additionalInfo: { kept: 1 } })
    const columns: readonly ImportColumn[] = [
      { type: 'NAME' },
      { type: 'LABEL' },
      { type: 'DESCRIPTION' },
      { type: 'SERVER_ATTRIBUTE', key: 'floor' },
    ]
    const floors = async () => {
      const found = await services.attributes.find({ entityType: 'ASSET', id: made.id }, 'SERVER_SCOPE', undefined)
      return found.value.map(({ value }) => value)
    }
    assert.equal((await run('hall,L,"a, ""b""",3\n', columns, false, 'ASSET')).updated, 1)
    assert.deepEqual(await floors(), [])
    assert.equal((await run('hall,L2,d,4\n', columns, true, 'ASSET')).updated, 1)
    assert.deepEqual(await floors(), [4])
    const hall = await service.findByName(tenantId, 'hall')
    assert.deepEqual([hall?.label, hall?.type, hall?.version], ['L2', 'building', 3])
    assert.deepEqual(hall?.additionalInfo, { kept: 1, description: 'd' })
  })
})

test('lines of a file: quotes, line breaks in cells, empty lines, either line end', () => {
  const text = '\uFEFFa;"b;\n""c"""\r\n\r\n;;\nd; e ;'
  assert.deepEqual(
    [...csvLines(text, ';')],
    [
      { number: 1, cells: ['a', 'b;\n"c"'] },
      { number: 5, cells: ['d', 'e', ''] },
    ],
  )
})

test('a quote that nothing ends is refused with its line: which lines it swallowed nobody can say', () => {
  const text = 'name,label\na,"b\nc"\nd,"e\nf,g\n'
  assert.throws(() => wholeLines(text, ','), {
    code: 'transfer.QUOTE',
    message: /^Line 4 has a quote that nothing ends/,
  })
  assert.throws(() => wholeLines(text, ',', 2_001), /Line 2004 /)
  assert.throws(() => wholeLines('name\n"', ','), { code: 'transfer.QUOTE' })
  assert.equal(wholeLines('name\n"a""\n"\n', ',').length, 2)
})
