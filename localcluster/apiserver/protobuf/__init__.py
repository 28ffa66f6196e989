"""Reading protobuf bodies: kubectl sends some requests in no other form."""
