"""What the box is measured against: FastAPI answering one constant to what the box is asked, ready-made bytes at that."""

import os

from fastapi import FastAPI, Response

BODY = os.environ["BENCH_BODY"].encode()
app = FastAPI()


@app.post("/mcp")
@app.post("/moltgame/api/v1/agents/heartbeat")
async def constant() -> Response:
    return Response(BODY, media_type="application/json")
