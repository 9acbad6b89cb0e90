"""How client programs are pointed at a gateway: one row per program, and settings files changed with care.

In reading order: `spec` (what a row is), `agents`, `libraries`, `rows` (the rows), `json_text`, `toml_text`,
`yaml_text`, `dotenv_text`, `merging` (the forms of files), `writing` (the files).
"""

from .merging import join as join
from .merging import merged as merged
from .rows import CLIENTS as CLIENTS
from .spec import Client as Client
from .spec import File as File
from .spec import Form as Form
from .spec import Kind as Kind
from .spec import Target as Target
from .writing import Written as Written
from .writing import located as located
from .writing import write as write
