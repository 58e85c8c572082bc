/** What the MQTT transport itself can fail with; what a client is told of it is in `reason-codes.ts`. */
import { defineErrors } from '../../model/errors.ts'

export const MqttErrors = defineErrors('mqtt', {
  LISTEN_FAILED: {
    kind: 'terminal',
    status: 500,
    text: '{label} cannot listen on {address}:{port} ({reason}); set another with {portName} or {addressName}',
  },
  ATTRIBUTES_UNAVAILABLE: { kind: 'retryable', status: 503, text: 'the attributes cannot be read now' },
  PROVISION_UNAVAILABLE: { kind: 'retryable', status: 503, text: 'no credentials can be given now' },
})
