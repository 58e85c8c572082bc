import type { MakeThings } from './make-things.ts'

const PIXEL = Buffer.from('R0lGODlhAQABAIAAAAAAAP///yH5BAEAAAAALAAAAAABAAEAAAIBRAA7', 'base64')
const MODEL = `<LWM2M><Object ObjectType="MODefinition"><Name>secret model</Name><ObjectID>4711</ObjectID>
<MultipleInstances>Single</MultipleInstances><Mandatory>Optional</Mandatory>
<Resources><Item ID="0"><Name>secret level</Name><Operations>R</Operations></Item></Resources></Object></LWM2M>`

export const makeResources: MakeThings = async ({ services, tenant }) => {
  const { images, resources } = services.content
  const make = async (resourceType: string, fileName: string, text = 'secret bytes'): Promise<string> => {
    const draft = { title: 'secret file', resourceType, fileName }
    return (await resources.save(tenant, draft, Buffer.from(text))).id
  }
  const image = await images.create(tenant, { fileName: 'secret.gif', bytes: PIXEL })
  const jsResourceId = await make('JS_MODULE', 'secret.js')
  return {
    resourceId: jsResourceId,
    jsResourceId,
    jksResourceId: await make('JKS', 'secret.jks'),
    pkcs12ResourceId: await make('PKCS_12', 'secret.p12'),
    lwm2mResourceId: await make('LWM2M_MODEL', 'secret.xml', MODEL),
    imageKey: image.resourceKey ?? '',
    resourceKey: 'secret.js',
  }
}
