/** Pictures that are taken out of what shows them and put in again, on both databases. */
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import sharp from 'sharp'
import type { JsonValue } from '../../model/json.ts'
import { onBothDatabases } from '../both-databases.testkit.ts'
import { openTestPlatform, type TestPlatform } from '../testkit.ts'

const picture = (background: string) =>
  sharp({ create: { width: 4, height: 4, channels: 3, background } })
    .png()
    .toBuffer()
const urlOf = (bytes: Buffer, type = 'png') => `data:image/${type};base64,${bytes.toString('base64')}`
const encoded = (text: string) => Buffer.from(text).toString('base64')

await onBothDatabases('inlined images: ', testAll)

function testAll(open: () => Promise<TestPlatform>): void {
  let platform: TestPlatform
  before(async () => {
    platform = await open()
  })
  after(() => platform.close())

  const takenOut = (value: JsonValue, by = platform.tenant) =>
    platform.services.content.inlineImages.takenOut(by, value, '"My home" dashboard image')
  const inlined = (value: JsonValue, by = platform.tenant) => platform.services.content.inlineImages.inlined(by, value)

  test('each different one is kept once, wherever it stands; one that is there already is used again', async () => {
    const [red, blue] = [urlOf(await picture('#ff0000')), urlOf(await picture('#0000ff'))]
    const draft = { image: red, configuration: { widgets: [{ icon: blue, text: 'plain', deep: { again: red } }] } }
    const taken = await takenOut(draft)
    const links = ['tb-image;/api/images/tenant/my_home_dashboard_image.png', '']
    links[1] = links[0]?.replace('.png', '_(1).png') ?? ''
    const [first, second] = links
    assert.deepEqual(taken, {
      image: first,
      configuration: { widgets: [{ icon: second, text: 'plain', deep: { again: first } }] },
    })
    assert.deepEqual(await takenOut(taken), taken)
    assert.deepEqual(await takenOut(draft), taken)
    const record = await platform.services.content.resources.findByKey(
      ...([platform.tenant, 'IMAGE', false, 'my_home_dashboard_image.png'] as const),
    )
    assert.equal(record?.title, '"My home" dashboard image')
  })

  test('what is put in again another tenant keeps under the same key and title', async () => {
    const bytes = await picture('#00ff00')
    const taken = await takenOut([
      `tb-image:${encoded('leaf.png')}:${encoded('A leaf')}:${encoded('IMAGE')};${urlOf(bytes)}`,
    ])
    assert.deepEqual(taken, ['tb-image;/api/images/tenant/leaf.png'])
    const text = `tb-image:${encoded('leaf.png')}:${encoded('A leaf')}:${encoded('IMAGE')};${urlOf(bytes)}`
    assert.deepEqual(await inlined(taken), [text])
    const of = platform.systemAdministrator
    assert.deepEqual(await takenOut([text], of), ['tb-image;/api/images/system/leaf.png'])
    assert.deepEqual(await inlined(['tb-image;/api/images/system/leaf.png']), [text])
    const gone = [
      'tb-image;/api/images/tenant/none.png',
      '/api/images/tenant/leaf.png',
      'x tb-image;/api/images/tenant/leaf.png',
    ]
    assert.deepEqual(await inlined(gone), gone)
  })

  test('whatever is said of a picture refuses no save', async () => {
    const known = (key: string, title: string, subType: string) =>
      `tb-image:${encoded(key)}:${encoded(title)}:${encoded(subType)};`
    const said = [
      known('k'.repeat(400), '', ''),
      known('', 't'.repeat(400), ''),
      known('a\0b', 'c\0d', ''),
      known('', '', 'SCADA_SYMBOL'),
      known('', ' ', 'SCADA_SYMBOL'),
      '',
      known('a/b\\c.png', '', ''),
    ]
    for (const [index, before] of said.entries()) {
      const text = `${before}${urlOf(await picture(`#1000${index}0`), index === 5 ? 'p'.repeat(300) : 'png')}`
      const { inlineImages } = platform.services.content
      const link = await inlineImages.takenOut(platform.tenant, text, `"${'n'.repeat(300)}" dashboard image`)
      assert.match(JSON.stringify(link), /^"tb-image;\/api\/images\/tenant\//, `case ${index}`)
    }
  })

  test('saves at the same time take each their picture out', async () => {
    const [one, other] = [urlOf(await picture('#123456')), urlOf(await picture('#654321'))]
    const texts = [one, other, one, other]
    const links = await Promise.all(texts.map((text) => takenOut(text)))
    const pictures = await Promise.all(links.map((link) => inlined(link)))
    for (const [index, text] of texts.entries())
      assert.ok(JSON.stringify(pictures[index]).endsWith(`${text}"`), `picture ${index}`)
  })

  test('what a tenant may see of the system is not kept once more', async () => {
    const text = urlOf(await picture('#abcdef'))
    const system = await takenOut(text, platform.systemAdministrator)
    assert.equal(await takenOut(text), system)
    assert.match(JSON.stringify(system), /^"tb-image;\/api\/images\/system\//)
  })

  test('what is no picture stays as it is, and so do texts that only look like one', async () => {
    const others = [
      urlOf(Buffer.from('no picture')),
      'data:image/svg+xml;utf8,<svg/>',
      ' data:image/png;base64,AA',
      '',
      null,
      5,
    ]
    assert.deepEqual(await takenOut(others), others)
  })

  test('too many of them are refused, and none is kept', async () => {
    const all = Array.from({ length: 101 }, (_, number) => urlOf(Buffer.from(`${number}`)))
    await assert.rejects(takenOut(all), { code: 'resources.TOO_MANY_INLINED', status: 400 })
    assert.deepEqual(await takenOut(all.slice(1)), all.slice(1))
  })
}

test('an answer holds so much of pictures, however often one is shown in it', async () => {
  const platform = await openTestPlatform()
  try {
    const { content } = platform.services
    const noise = Buffer.alloc(300 * 300 * 3)
    for (let place = 0; place < noise.length; place++) noise[place] = (place * 7919 * (place % 251)) % 256
    const bytes = await sharp(noise, { raw: { width: 300, height: 300, channels: 3 } })
      .png()
      .toBuffer()
    const link = await content.inlineImages.takenOut(platform.tenant, urlOf(bytes), 'noise')
    const shown = Array.from({ length: Math.ceil((32 * 2 ** 20) / (bytes.length * 1.33)) + 1 }, () => link)
    await assert.rejects(content.inlineImages.inlined(platform.tenant, shown), { code: 'resources.INLINED_TOO_LARGE' })
    assert.match(JSON.stringify(await content.inlineImages.inlined(platform.tenant, link)), /base64/)
  } finally {
    await platform.close()
  }
})
