// A client of LwM2M by Eclipse Leshan, driven by lines: `battery N` changes 3/0/9, `update` updates the registration, `stop` ends it.
// It says what it hears: BOOTSTRAPPED, REGISTERED, UPDATED, WRITE 14 text, EXECUTE 4, DEREGISTERED.
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.HexFormat;
import java.util.List;
import java.util.Scanner;
import org.eclipse.leshan.client.LeshanClient;
import org.eclipse.leshan.client.LeshanClientBuilder;
import org.eclipse.leshan.client.californium.endpoint.CaliforniumClientEndpointsProvider;
import org.eclipse.leshan.client.californium.endpoint.coap.CoapClientProtocolProvider;
import org.eclipse.leshan.client.californium.endpoint.coaps.CoapsClientProtocolProvider;
import org.eclipse.leshan.client.object.Security;
import org.eclipse.leshan.client.object.Server;
import org.eclipse.leshan.client.observer.LwM2mClientObserverAdapter;
import org.eclipse.leshan.client.resource.BaseInstanceEnabler;
import org.eclipse.leshan.client.resource.ObjectsInitializer;
import org.eclipse.leshan.client.servers.LwM2mServer;
import org.eclipse.leshan.core.ResponseCode;
import org.eclipse.leshan.core.model.ObjectModel;
import org.eclipse.leshan.core.node.LwM2mResource;
import org.eclipse.leshan.core.request.BootstrapRequest;
import org.eclipse.leshan.core.request.DeregisterRequest;
import org.eclipse.leshan.core.request.RegisterRequest;
import org.eclipse.leshan.core.request.UpdateRequest;
import org.eclipse.leshan.core.request.argument.Arguments;
import org.eclipse.leshan.core.response.ExecuteResponse;
import org.eclipse.leshan.core.response.ReadResponse;
import org.eclipse.leshan.core.response.WriteResponse;

public class Client {
  public static class Device extends BaseInstanceEnabler {
    private volatile long battery = 90;
    private volatile String offset = "+00";

    @Override
    public ReadResponse read(LwM2mServer server, int id) {
      switch (id) {
        case 0: return ReadResponse.success(id, "Acme");
        case 9: return ReadResponse.success(id, battery);
        case 14: return ReadResponse.success(id, offset);
        case 16: return ReadResponse.success(id, "U");
        default: return super.read(server, id);
      }
    }

    @Override
    public WriteResponse write(LwM2mServer server, boolean replace, int id, LwM2mResource value) {
      if (id != 14) return super.write(server, replace, id, value);
      offset = (String) value.getValue();
      System.out.println("WRITE 14 " + offset);
      return WriteResponse.success();
    }

    @Override
    public ExecuteResponse execute(LwM2mServer server, int id, Arguments arguments) {
      System.out.println("EXECUTE " + id);
      return ExecuteResponse.success();
    }

    @Override
    public List<Integer> getAvailableResourceIds(ObjectModel model) {
      return Arrays.asList(0, 4, 9, 14, 16);
    }

    void change(long value) {
      battery = value;
      fireResourceChange(9);
    }
  }

  private static byte[] bytesOf(String file) throws IOException {
    return Files.readAllBytes(Path.of(file));
  }

  /** Endpoint, and `coap://HOST:PORT` or `coaps://…` with what it proves itself with; `bootstrap` before that: it is a bootstrap server's. */
  public static void main(String[] parameters) throws IOException {
    Device device = new Device();
    ObjectsInitializer objects = new ObjectsInitializer();
    String address = parameters[1];
    // What it proves itself with: nothing, `psk IDENTITY HEX`, or `x509 KEY CERTIFICATE SERVER`, `rpk KEY PUBLIC SERVER`, files in DER.
    String mode = parameters.length > 2 ? parameters[2] : "";
    boolean isBootstrap = mode.equals("bootstrap");
    if (isBootstrap && parameters.length > 3)
      objects.setInstancesForObject(0, Security.pskBootstrap(
        address, parameters[4].getBytes(StandardCharsets.UTF_8), HexFormat.of().parseHex(parameters[5])));
    else if (isBootstrap) objects.setInstancesForObject(0, Security.noSecBootstrap(address));
    else if (mode.equals("psk"))
      objects.setInstancesForObject(0, Security.psk(
        address, 123, parameters[3].getBytes(StandardCharsets.UTF_8), HexFormat.of().parseHex(parameters[4])));
    else if (mode.equals("x509"))
      objects.setInstancesForObject(0, Security.x509(
        address, 123, bytesOf(parameters[4]), bytesOf(parameters[3]), bytesOf(parameters[5])));
    else if (mode.equals("rpk"))
      objects.setInstancesForObject(0, Security.rpk(
        address, 123, bytesOf(parameters[4]), bytesOf(parameters[3]), bytesOf(parameters[5])));
    else objects.setInstancesForObject(0, Security.noSec(address, 123));
    if (isBootstrap) objects.setClassForObject(1, Server.class);
    else objects.setInstancesForObject(1, new Server(123, 300));
    objects.setInstancesForObject(3, device);
    LeshanClientBuilder builder = new LeshanClientBuilder(parameters[0]);
    builder.setObjects(objects.create(0, 1, 3));
    builder.setEndpointsProviders(
      new CaliforniumClientEndpointsProvider.Builder(new CoapClientProtocolProvider(), new CoapsClientProtocolProvider())
        .build());
    LeshanClient client = builder.build();
    client.addObserver(new LwM2mClientObserverAdapter() {
      @Override
      public void onBootstrapSuccess(LwM2mServer server, BootstrapRequest request) {
        System.out.println("BOOTSTRAPPED");
      }

      @Override
      public void onBootstrapFailure(
          LwM2mServer server, BootstrapRequest request, ResponseCode code, String text, Exception cause) {
        System.out.println("REFUSED " + code + " " + text);
      }

      @Override
      public void onRegistrationSuccess(LwM2mServer server, RegisterRequest request, String id) {
        System.out.println("REGISTERED");
      }

      @Override
      public void onRegistrationFailure(
          LwM2mServer server, RegisterRequest request, ResponseCode code, String text, Exception cause) {
        System.out.println("REFUSED " + code + " " + text);
      }

      @Override
      public void onRegistrationTimeout(LwM2mServer server, RegisterRequest request) {
        System.out.println("TIMED OUT");
      }

      @Override
      public void onUpdateSuccess(LwM2mServer server, UpdateRequest request) {
        System.out.println("UPDATED");
      }

      @Override
      public void onDeregistrationSuccess(LwM2mServer server, DeregisterRequest request) {
        System.out.println("DEREGISTERED");
      }
    });
    client.start();
    Scanner lines = new Scanner(System.in);
    while (lines.hasNextLine()) {
      String[] words = lines.nextLine().split(" ");
      if (words[0].equals("battery")) device.change(Long.parseLong(words[1]));
      else if (words[0].equals("update")) client.triggerRegistrationUpdate();
      else if (words[0].equals("stop")) break;
    }
    client.destroy(true);
    System.exit(0);
  }
}
