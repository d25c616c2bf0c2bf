"""What the box is measured against: FastAPI answering one constant to POST /mcp, ready-made bytes at that."""

import os

from fastapi import FastAPI, Response

BODY = os.environ["BENCH_BODY"].encode()
app = FastAPI()


@app.post("/mcp")
async def mcp() -> Response:
    return Response(BODY, media_type="application/json")
