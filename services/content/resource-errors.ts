/** What services of files refuse; the texts are the reference's (`rest-api.md` 14.3). */
import { defineErrors } from '../../model/errors.ts'

const BAD_REQUEST = { kind: 'invalid', status: 400, restCode: 31 } as const

export const ResourceErrors = defineErrors('resources', {
  MISSING: { ...BAD_REQUEST, text: 'Resource {property} should be specified!' },
  DATA_MISSING: { ...BAD_REQUEST, text: 'Resource data should be specified' },
  FILE_NAME: { ...BAD_REQUEST, text: 'File name contains forbidden symbols' },
  DATA_FIXED: { ...BAD_REQUEST, text: "This type of resource can't be updated" },
  TAKEN: { ...BAD_REQUEST, text: 'Resource with such {property} already exists!' },
  TYPE_FIXED: { ...BAD_REQUEST, text: "Resource type can't be changed!" },
  IMAGE_AS_RESOURCE: { ...BAD_REQUEST, text: 'Image resource type is not supported' },
  TOO_LARGE: { ...BAD_REQUEST, text: 'Resource exceeds the maximum size of {limit}' },
  SHARE_USED_UP: { ...BAD_REQUEST, text: 'Resources total size exceeds the maximum of {limit}' },
  DATA_NOT_BASE64: { ...BAD_REQUEST, text: 'Resource data should be base64!' },
  MEDIA_TYPE: { ...BAD_REQUEST, text: 'Unsupported media type: {mediaType}' },
  NO_IMAGE: { ...BAD_REQUEST, text: 'Failed to read the image: {reason}' },
  TOO_MANY_INLINED: { ...BAD_REQUEST, text: 'At most {limit} images may be inlined' },
  INLINED_TOO_LARGE: { ...BAD_REQUEST, text: 'Inlined images exceed the maximum of {limit} bytes' },
  BUSY: { kind: 'retryable', status: 503, text: 'Too many images are read at once' },
  SCADA_NOT_SVG: { ...BAD_REQUEST, text: 'SCADA symbol should be an SVG image!' },
  MODEL: { ...BAD_REQUEST, text: 'Failed to parse file {fileName}' },
})
