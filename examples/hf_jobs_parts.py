# /// script
# requires-python = ">=3.10"
# dependencies = ["cc_hf[models]"]
# ///
"""A part of an evaluation for each of several Jobs on the Hugging Face Hub.

Print the jobs, and start them with --submit:

    python hf_jobs_parts.py --parts 16 --repo me/scores winomt.de.txt winomt en-de

The translations go into a private dataset repository, and each job puts its file of scores there.
The result then needs no model: see docs/scale.md.
"""

from __future__ import annotations

import argparse
import subprocess
from pathlib import Path

from huggingface_hub import HfApi, get_token, hf_hub_download, run_uv_job


def submit(options: argparse.Namespace) -> None:
    """Start a job for each part, or print them."""
    api = HfApi()
    if options.submit:
        api.create_repo(options.repo, repo_type="dataset", private=True, exist_ok=True)
        api.upload_file(
            path_or_fileobj=options.translations,
            path_in_repo=Path(options.translations).name,
            repo_id=options.repo,
            repo_type="dataset",
        )
    for number in range(1, options.parts + 1):
        part = f"{number}/{options.parts}"
        name = Path(options.translations).name
        arguments = ["--repo", options.repo, "--part", part, name, *options.evaluate]
        if not options.submit:
            print("not submitted:", options.flavor, *arguments)
            continue
        job = run_uv_job(
            __file__,
            script_args=arguments,
            flavor=options.flavor,
            timeout=options.timeout,
            secrets={"HF_TOKEN": get_token()},
        )
        print(job.url, part)


def run(options: argparse.Namespace) -> None:
    """Compute a part, in a job."""
    translations = hf_hub_download(options.repo, options.translations, repo_type="dataset")
    scores = f"{options.part.replace('/', '-of-')}.parquet"
    command = ["cc-hf", "evaluate", *options.evaluate, "--translations", translations]
    subprocess.run([*command, "--part", options.part, "--scores", scores], check=True)
    HfApi().upload_file(
        path_or_fileobj=scores, path_in_repo=scores, repo_id=options.repo, repo_type="dataset"
    )


def main() -> None:
    """Submit the jobs, or be one of them."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--repo", required=True, help="dataset repository, such as me/scores")
    parser.add_argument("--parts", type=int, default=1, help="number of jobs")
    parser.add_argument("--flavor", default="cpu-upgrade", help="hardware (`hf jobs hardware`)")
    parser.add_argument("--timeout", default="4h", help="most time of a job")
    parser.add_argument("--submit", action="store_true", help="start the jobs")
    parser.add_argument("--part", help="compute this part; jobs are started with it")
    parser.add_argument("translations", help="file of translations")
    parser.add_argument("evaluate", nargs=argparse.REMAINDER, help="words of `cc-hf evaluate`")
    options = parser.parse_args()
    run(options) if options.part else submit(options)


if __name__ == "__main__":
    main()
