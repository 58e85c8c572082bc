import assert from 'node:assert/strict'
import { afterEach, beforeEach, test } from 'node:test'
import sharp from 'sharp'
import { isJsonObject } from '../../model/json.ts'
import { deviceProfiles } from '../entities/device-profile.ts'
import { linkOf } from '../entities/tb-resource.ts'
import { openTestPlatform, type TestPlatform } from '../testkit.ts'
import { readPicture } from './pictures.ts'

let platform: TestPlatform
beforeEach(async () => {
  platform = await openTestPlatform()
})
afterEach(() => platform.close())

const images = () => platform.services.content.images
const files = () => platform.services.content.resources
const create = (fileName: string, bytes: Buffer) => images().create(platform.tenant, { fileName, bytes })
const picture = (width: number, height: number, format: 'png' | 'jpeg' = 'png') =>
  sharp({ create: { width, height, channels: 3, background: '#123456' } })
    .toFormat(format)
    .toBuffer()
const svg = (inside: string, width = 500) =>
  Buffer.from(`<svg xmlns="http://www.w3.org/2000/svg" width="${width}" height="100">${inside}</svg>`)

test('a large picture has a small one of its shape, a small one is its own', async () => {
  const bytes = await picture(1000, 500)
  const large = await create('large.png', bytes)
  const preview = await files().readPreview(large)
  const { width, height, format } = await sharp(preview).metadata()
  assert.deepEqual([width, height, format], [250, 125, 'png'])
  assert.ok(isJsonObject(large.descriptor) && isJsonObject(large.descriptor['previewDescriptor']))
  assert.deepEqual(
    [large.descriptor['mediaType'], large.descriptor['width'], large.descriptor['height'], large.descriptor['size']],
    ['image/png', 1000, 500, bytes.length],
  )
  assert.equal(large.descriptor['previewDescriptor']['size'], preview.length)
  assert.equal(large.dataSize, bytes.length + preview.length)
  const small = await create('small.png', await picture(20, 10))
  assert.deepEqual(await files().readPreview(small), await files().read(small))
})

test('which kind it is the bytes say', async () => {
  assert.equal((await readPicture(await picture(10, 10, 'jpeg'))).mediaType, 'image/jpeg')
  const vector = await readPicture(svg('<rect width="10" height="10"/>'))
  assert.deepEqual(vector, { mediaType: 'image/svg+xml', width: 500, height: 100, preview: undefined })
  const bitmap = Buffer.alloc(54)
  bitmap.write('BM')
  bitmap.writeInt32LE(7, 18)
  bitmap.writeInt32LE(-5, 22)
  assert.deepEqual(await readPicture(bitmap), { mediaType: 'image/bmp', width: 7, height: 5, preview: undefined })
})

test('what is no picture is refused', async () => {
  const whole = await picture(300, 300)
  for (const bytes of [Buffer.from('<html><script>1</script></html>'), Buffer.alloc(0), whole.subarray(0, 60)])
    await assert.rejects(create('a.png', bytes), { code: 'resources.NO_IMAGE', status: 400 })
  const symbol = images().create(platform.tenant, { fileName: 'a.png', bytes: whole, subType: 'SCADA_SYMBOL' })
  await assert.rejects(symbol, { code: 'resources.SCADA_NOT_SVG' })
})

test('a vector picture is never drawn, whatever it asks for and however it is named', async () => {
  const filter = '<filter id="f"><feTurbulence baseFrequency="9" numOctaves="9999"/></filter>'
  const drawing = `${filter}<rect width="100%" height="100%" filter="url(#f)"/>`.repeat(20)
  const { user } = process.cpuUsage()
  for (const fileName of ['a.svg', 'a.png', 'a']) {
    const image = await create(fileName, svg(drawing, 9_000))
    assert.equal(image.previewSize, 0)
    assert.deepEqual(await files().readPreview(image), svg(drawing, 9_000))
  }
  assert.ok(process.cpuUsage().user - user < 5_000_000, 'seconds of drawing')
})

test('what a vector picture says of its size, in the units of browsers', async () => {
  const sides = async (attributes: string, before = '') => {
    const { width, height } = await readPicture(Buffer.from(`${before}<svg ${attributes}><g/></svg>`))
    return [width, height]
  }
  assert.deepEqual(await sides('width="10" height="20px"'), [10, 20])
  assert.deepEqual(await sides('width="1in" height="25.4mm"'), [96, 96])
  assert.deepEqual(await sides('viewBox="0 0 30,40"'), [30, 40])
  assert.deepEqual(await sides('width="100%" height="100%" viewBox="0 0 30 40"'), [30, 40])
  assert.deepEqual(await sides('width="60" viewBox="0 0 30 40"'), [60, 80])
  assert.deepEqual(await sides(''), [300, 150])
  assert.deepEqual(await sides('width="-1" height="1e999"'), [300, 150])
  const before = '\ufeff<?xml version="1.0"?>\n<!-- <svg> --><!DOCTYPE svg [<!ENTITY a "b">]>'
  assert.deepEqual(await sides(`title="a>b" width='7' height='8'`, before), [7, 8])
  const { width } = await readPicture(Buffer.from('<s:svg xmlns:s="http://www.w3.org/2000/svg" width="5" height="5"/>'))
  assert.equal(width, 5)
  for (const text of ['<svg width="9"', '<svg width="9">', '<svg a=b c></svg>', '<!-- <svg/>', '<p><svg/></p>'])
    await assert.rejects(readPicture(Buffer.from(text)), { code: 'resources.NO_IMAGE' }, text)
})

test('bitmaps wait for their turn, and no more than may wait', async () => {
  const bytes = await picture(300, 300)
  const results = await Promise.allSettled(Array.from({ length: 40 }, () => readPicture(bytes)))
  const refused = results.filter((each) => each.status === 'rejected').map(({ reason }): unknown => reason)
  assert.ok(refused.length > 0 && refused.length < 40, String(refused.length))
  for (const error of refused) assert.ok(error instanceof Error && 'code' in error && error.code === 'resources.BUSY')
  assert.equal((await readPicture(bytes)).width, 300)
})

test('who is not known has a part of the room for files, given back with the answer', async () => {
  const large = await create('a.svg', svg(' '.repeat(17 << 20)))
  const held = await files().hold(large, 'unknown')
  await assert.rejects(files().hold(large, 'unknown'), { code: 'content.FILES_BUSY', status: 503 })
  assert.equal((await files().hold(large)).bytes.length, large.dataSize)
  held.release()
  await files().hold(large, 'unknown')
})

test('two files of one name have keys of their own, and each its public link', async () => {
  const bytes = await picture(4, 4)
  const [one, two] = [await create('a b.png', bytes), await create('a b.png', bytes)]
  assert.deepEqual([one.resourceKey, two.resourceKey], ['a_b.png', 'a_b_(1).png'])
  assert.equal((await files().findPublic(one.publicResourceKey ?? ''))?.id, one.id)
  await images().setPublic(platform.tenant, one, false)
  assert.equal(await files().findPublic(one.publicResourceKey ?? ''), undefined)
  assert.equal((await files().findPublic(two.publicResourceKey ?? ''))?.id, two.id)
})

test('another picture takes the place of one, under the same key', async () => {
  const before = await create('a.png', await picture(400, 400))
  const after = await images().replace(platform.tenant, before, 'b.jpg', await picture(10, 10, 'jpeg'))
  assert.deepEqual([after.resourceKey, after.fileName, after.previewSize], ['a.png', 'b.jpg', 0])
  assert.deepEqual(await files().readPreview(after), await picture(10, 10, 'jpeg'))
  assert.equal(after.publicResourceKey, before.publicResourceKey)
})

test('changes of an image that come together are all there', async () => {
  const image = await create('a.png', await picture(4, 4))
  const other = await picture(8, 8)
  await Promise.all([
    images().setPublic(platform.tenant, image, false),
    images().rename(platform.tenant, image, 'renamed'),
    images().replace(platform.tenant, image, 'b.png', other),
  ])
  const [now] = await files().byIds(platform.tenant, [image.id])
  assert.deepEqual([now?.public, now?.title, now?.fileName], [false, 'renamed', 'b.png'])
  assert.deepEqual([now?.dataSize, now && (await files().read(now))], [other.length, other])
})

test('a renamed image is found by its new title alone', async () => {
  const image = await create('sunrise.png', await picture(4, 4))
  await images().rename(platform.tenant, image, 'sunset')
  const found = async (textSearch: string) => {
    const page = { page: 0, pageSize: 10, textSearch }
    const { data } = await files().page(platform.tenant, { types: ['IMAGE'] }, page)
    return data.map(({ title }) => title)
  }
  assert.deepEqual([await found('sunset'), await found('sunrise')], [['sunset'], []])
})

test('what one server exports another imports', async () => {
  const bytes = await picture(30, 30)
  const { image } = await images().exported(await create('a.png', bytes))
  const { data, title, fileName, publicResourceKey } = image
  assert.deepEqual([data, title, fileName], [bytes.toString('base64'), 'a.png', 'a.png'])
  const again = await images().create(platform.tenant, {
    ...{ fileName: 'a.png', bytes, public: false },
    publicResourceKey: typeof publicResourceKey === 'string' ? publicResourceKey : '',
  })
  assert.equal(again.public, false)
  assert.notEqual(again.publicResourceKey, publicResourceKey)
})

test('an image that a profile shows goes only by force', async () => {
  const image = await create('a.png', await picture(4, 4))
  const draft = { name: 'p', type: 'DEFAULT', transportType: 'DEFAULT', image: `tb-image;${linkOf(image)}` } as const
  const profile = await platform.services.declared.of(deviceProfiles).saveByUser(platform.tenant, draft)
  const { success, references } = await files().delete(platform.tenant, image, false)
  assert.equal(success, false)
  assert.deepEqual(
    references?.['DEVICE_PROFILE']?.map(({ id, name }) => [id, name]),
    [[{ entityType: 'DEVICE_PROFILE', id: profile.id }, 'p']],
  )
  assert.equal((await files().delete(platform.tenant, image, true)).success, true)
})
