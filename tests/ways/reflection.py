"""The script of tests/fixtures/ways by reflection alone: a client that has no proto file and no generated code.

Usage: reflection.py HOST:PORT. The service runs under tests/fixtures/ways/tripnote.toml and the test clock.
"""

import json
import pathlib
import sys

import grpc
from google.protobuf import descriptor_pool, json_format, message_factory
from grpc_reflection.v1alpha.proto_reflection_descriptor_database import ProtoReflectionDescriptorDatabase

SCRIPT = pathlib.Path(__file__).parent.parent / "fixtures" / "ways" / "scenario.jsonl"


class Reflected:
    """Calls methods by name, with JSON in and JSON out."""

    def __init__(self, address):
        self.channel = grpc.insecure_channel(address)
        self.pool = descriptor_pool.DescriptorPool(ProtoReflectionDescriptorDatabase(self.channel))

    def call(self, service, method, request):
        found = self.pool.FindServiceByName(f"tripnote.v1.{service}").FindMethodByName(method)
        of, to = (message_factory.GetMessageClass(kind) for kind in (found.input_type, found.output_type))
        ask = self.channel.unary_unary(
            f"/{found.containing_service.full_name}/{method}",
            request_serializer=of.SerializeToString,
            response_deserializer=to.FromString,
        )
        return json_format.MessageToDict(ask(json_format.ParseDict(request, of()), timeout=10))


def base64(text):
    import base64

    return base64.b64encode(text.encode()).decode()


def main(address):
    service = Reflected(address)
    lines = [json.loads(line) for line in SCRIPT.read_text().splitlines()]
    for line in lines:
        names = {"sessionId": "reflected", "callId": line["call_id"]}
        arguments = json.dumps(line["arguments"], separators=(",", ":"))
        call = {"toolName": line["tool"], "arguments": base64(arguments), **names}
        admitted = service.call("BreakerService", "Admit", call)
        told = admitted["trip"]["text"] if "trip" in admitted else "go"
        assert told == line["admit"], f"admit of {line['call_id']}: {told}"
        if "trip" in admitted:
            continue
        outcome = {"callRef": names, "payload": {"body": base64(line["payload"])}}
        ack = service.call("BreakerService", "Report", {"outcomes": [outcome]})["results"][0]["ack"]
        told = ack["trip"]["text"] if "trip" in ack else ack["handling"].get("text") or "deliver"
        assert told == line["report"], f"report of {line['call_id']}: {told}"
    assert len(lines) >= 9, "the script is cut"
    print(f"by reflection: {len(lines)} calls, the same texts")


if __name__ == "__main__":
    main(*sys.argv[1:])
