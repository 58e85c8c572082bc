/** Bodies of the kind `multipart/form-data`: texts and files by the names of their parts. */
import { z } from 'zod'
import { ParameterErrors } from '../errors.ts'
import type { UploadedBytes } from '../../services/content/ota-packages.ts'

export type FormMembers = Readonly<Record<string, string | UploadedBytes>>

/** Largest body of a call that uploads a file (`rest-api.md` 2.3). */
export const MAX_UPLOAD_BYTES = 50 << 20

/** Throws `parameter.BODY_INVALID`. Of parts with one name the last counts. */
export async function formOf(contentType: string, body: Buffer): Promise<FormMembers> {
  let parts: FormData
  try {
    // A view on the same bytes: no copy of a large file.
    const view = new Uint8Array(body.buffer, body.byteOffset, body.byteLength)
    parts = await new Response(view, { headers: { 'content-type': contentType } }).formData()
  } catch (error) {
    throw ParameterErrors.BODY_INVALID({ reason: 'body: multipart/form-data is expected' }, error)
  }
  const members: Record<string, string | UploadedBytes> = {}
  for (const [name, value] of parts) {
    members[name] =
      typeof value === 'string'
        ? value
        : { fileName: value.name, contentType: value.type, bytes: Buffer.from(await value.arrayBuffer()) }
  }
  return members
}

/** A part that is a file. */
export const uploadedFile = z.custom<UploadedBytes>(
  (value) => typeof value === 'object' && value !== null && 'bytes' in value && Buffer.isBuffer(value.bytes),
  'a file is expected',
)

/** Only what a header can carry: `attachment;filename=fw.bin`. */
export function attachment(fileName: string): Readonly<Record<string, string>> {
  const plain = fileName.replace(/[^\x20-\x7e]|["\\;]/g, '_')
  return { 'Content-Disposition': `attachment;filename=${plain}`, 'x-filename': plain }
}
